import type { App } from '../../src/app.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { type BoundSecret, boundSecret } from '../secrets/index.ts'
import { failures } from './failures.ts'

/** A header is bound to the endpoint, so that a run config which names another one cannot have it sent there. */
const secretOf = (
  app: App,
  { name: workload, telemetry_config: said }: RunConfig,
  header: string,
): BoundSecret =>
  boundSecret(app, {
    workload,
    prefix: 'OTEL_HEADER',
    target: 'otel_header',
    bound: [said?.endpoint ?? '', header.toLowerCase()],
    failures: {
      missing: failures.telemetry_header_missing,
      notStorable: failures.telemetry_header_not_storable,
    },
  })

const headersOf = ({ telemetry_config: said }: RunConfig): [string, string][] =>
  Object.entries(said?.headers ?? {})

/** The headers of exports with their values. Fails with `telemetry_header_missing`. */
export const readHeaders = async (app: App, config: RunConfig): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all(
      headersOf(config).map(async ([name, said]) => [
        name,
        (await secretOf(app, config, name).read(said)) ?? '',
      ]),
    ),
  )

/** Moves plain values into the secrets provider. Fails with `telemetry_header_not_storable`. */
export async function concealHeaders(app: App, config: RunConfig): Promise<RunConfig> {
  const plain = headersOf(config)
  if (plain.length === 0) return config
  const headers: Record<string, string> = {}
  for (const [name, said] of plain) headers[name] = said && (await secretOf(app, config, name).conceal(said))
  return { ...config, telemetry_config: { ...config.telemetry_config, headers } }
}

/** The run config with the values that are kept for it. Fails with `telemetry_header_missing`. */
export async function revealHeaders(app: App, config: RunConfig): Promise<RunConfig> {
  if (headersOf(config).length === 0) return config
  return {
    ...config,
    telemetry_config: { ...config.telemetry_config, headers: await readHeaders(app, config) },
  }
}

/** Deletes what is kept for a workload that is gone. */
export async function forgetHeaders(app: App, config: RunConfig): Promise<void> {
  for (const [name, said] of headersOf(config)) await secretOf(app, config, name).forget(said)
}
