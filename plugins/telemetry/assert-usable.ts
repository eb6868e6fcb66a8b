import { isAbsolute } from 'node:path'
import type { ObjectOf } from '../../src/lib/schema.ts'
import { parseEndpoint } from './endpoint.ts'
import { failures } from './failures.ts'
import type { telemetryMembers } from './telemetry-members.ts'

const wrong = (problem: string, hint?: string) => failures.telemetry_invalid({ problem, hint })

/** A field name (RFC 9110, section 5.6.2), and a value without line breaks. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** Set by the exporter itself, or about the connection. */
const OWN_HEADERS = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'host',
  'connection',
  'transfer-encoding',
])
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Fails with `telemetry_invalid`. */
export function assertUsable(said: ObjectOf<typeof telemetryMembers>): void {
  const { endpoint, insecure, samplingRate, caCertPath } = said
  if (endpoint) {
    parseEndpoint(endpoint, { insecure: insecure === true })
    if (said.tracingEnabled === false && said.metricsEnabled === false) {
      throw wrong(
        'there is an endpoint, and neither traces nor metrics are sent',
        'Leave one of them on, or leave out the endpoint.',
      )
    }
  }
  if (samplingRate && !isRate(samplingRate)) {
    throw wrong(`the sampling rate is a number from 0 to 1, not "${samplingRate}"`)
  }
  for (const [name, value] of Object.entries(said.headers ?? {})) {
    if (!HEADER_NAME.test(name) || OWN_HEADERS.has(name.toLowerCase())) {
      throw wrong(`"${name}" cannot be a header of the exports`)
    }
    if (!HEADER_VALUE.test(value))
      throw wrong(`the value of the header "${name}" has characters that no header has`)
  }
  for (const name of said.environmentVariables ?? []) {
    if (!VARIABLE.test(name)) throw wrong(`"${name}" is not a name of an environment variable`)
  }
  if (caCertPath && !isAbsolute(caCertPath))
    throw wrong(`caCertPath is an absolute path, not "${caCertPath}"`)
}

const isRate = (text: string): boolean => /^(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?$/i.test(text) && Number(text) <= 1
