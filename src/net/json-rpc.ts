import { isObject } from '../lib/is-object.ts'

/** JSON-RPC 2.0 messages as MCP uses them. Members we do not name are kept. */
export type RequestId = string | number

export interface JsonRpcRequest {
  jsonrpc: '2.0'
  id: RequestId
  method: string
  params?: Record<string, unknown>
}
export interface JsonRpcNotification {
  jsonrpc: '2.0'
  method: string
  params?: Record<string, unknown>
}
export interface JsonRpcError {
  code: number
  message: string
  data?: unknown
}
export interface JsonRpcResponse {
  jsonrpc: '2.0'
  id?: RequestId | null
  result?: unknown
  error?: JsonRpcError
}
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse

const isId = (value: unknown): value is RequestId => typeof value === 'string' || typeof value === 'number'

export const isRequest = (value: unknown): value is JsonRpcRequest =>
  isObject(value) && typeof value.method === 'string' && isId(value.id)
export const isNotification = (value: unknown): value is JsonRpcNotification =>
  isObject(value) && typeof value.method === 'string' && !('id' in value)
export const isResponse = (value: unknown): value is JsonRpcResponse =>
  isObject(value) && !('method' in value) && ('result' in value || 'error' in value)
export const isMessage = (value: unknown): value is JsonRpcMessage =>
  isObject(value) &&
  value.jsonrpc === '2.0' &&
  (isRequest(value) || isNotification(value) || isResponse(value))

/** An error response. When the id of the request could not be read, the member is left out, not null. */
export function errorResponse(code: number, message: string, id?: RequestId, data?: unknown): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    ...(id === undefined ? {} : { id }),
    error: { code, message, ...(data === undefined ? {} : { data }) },
  })
}
