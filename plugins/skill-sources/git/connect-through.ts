import { once } from 'node:events'
import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { FetchProblem } from '../../../src/net/fetch-problem.ts'

/** Connects through an HTTP proxy (CONNECT, RFC 9110 section 9.3.6). The signal ends only the attempt to connect. */
export async function connectThrough(
  proxy: URL,
  { host, port }: { host: string; port: number },
  signal: AbortSignal,
): Promise<Socket> {
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const request = (proxy.protocol === 'https:' ? tlsRequest : plainRequest)({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: target,
    headers: {
      host: target,
      ...(proxy.username ? { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` } : {}),
    },
  })
  request.end()
  const [answer, socket, head] = await once(request, 'connect', { signal }).catch(error => {
    request.on('error', () => undefined).destroy()
    throw error
  })
  if (answer.statusCode === 200) {
    if (head.length) socket.unshift(head)
    return socket
  }
  socket.destroy()
  throw new FetchProblem('unreachable', `the proxy ${proxy.host} responds with status ${answer.statusCode}`)
}
