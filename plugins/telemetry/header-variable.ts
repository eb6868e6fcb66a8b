import type { App } from '../../src/app.ts'
import { failures } from './failures.ts'

const VARIABLE = 'OTEL_EXPORTER_OTLP_HEADERS'

/**
 * Adds the headers of `OTEL_EXPORTER_OTLP_HEADERS` to those that were said, which win. The variable is a list
 * `NAME=VALUE,…` with values in percent-encoding (W3C Baggage without properties), as the specification of the
 * OpenTelemetry exporters says. Fails with `telemetry_invalid`, which shows nothing of it: it holds secrets.
 */
export function withHeaderVariable(
  said: Readonly<Record<string, string>>,
  env: App['env'],
): Record<string, string> {
  const taken = new Set(Object.keys(said).map(name => name.toLowerCase()))
  const pairs = (env[VARIABLE] ?? '').split(',').filter(pair => pair.trim())
  const read = pairs.map(readPair).filter(([name]) => !taken.has(name.toLowerCase()))
  return { ...Object.fromEntries(read), ...said }
}

function readPair(pair: string): [string, string] {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
  try {
    if (name.trim()) return [name.trim(), decodeURIComponent(value.trim())]
  } catch {} // an escape that is none
  throw failures.telemetry_invalid({
    problem: `the variable ${VARIABLE} is not NAME=VALUE,… with values in percent-encoding`,
    hint: 'Correct or unset the variable, and give headers with --otel-headers-file.',
  })
}
