import type { App } from '../../../src/app.ts'
import type { TunnelOffer } from '../../../src/contracts/tunnel.ts'
import { failures as core, messageOf } from '../../../src/errors.ts'
import { suggest } from '../../../src/lib/suggest.ts'

/** What `--tunnel-provider` and `--provider-args` ask for. */
export interface TunnelRequest {
  readonly tunnel: TunnelOffer
  /** Check everything, and open nothing. */
  readonly dryRun: boolean
}

/** Finds the provider, then reads its arguments. Fails with `usage`, or as the provider says. */
export async function readTunnelRequest(
  app: App,
  given: { provider: string | undefined; args: string },
): Promise<TunnelRequest> {
  const providers = (await app.contributions('tunnels')).map(make => make(app))
  const names = providers.map(({ name }) => name).sort()
  const provider = providers.find(({ name }) => name === given.provider)
  if (!provider) {
    const near = given.provider === undefined ? undefined : suggest(given.provider, names)
    throw core.usage({
      text: `--tunnel-provider takes one of ${names.join(', ')}${given.provider === undefined ? '' : `, not "${given.provider}"`}.`,
      hint: near ? `Did you mean ${near}?` : undefined,
    })
  }
  const { 'dry-run': dryRun = false, ...args } = parseObject(given.args)
  if (typeof dryRun !== 'boolean') {
    throw core.usage({ text: '--provider-args: "dry-run" is true or false.' })
  }
  return { tunnel: await provider.prepare(args), dryRun }
}

function parseObject(text: string): Record<string, unknown> {
  const wrong = (problem: string) =>
    core.usage({
      text: `--provider-args takes a JSON object: ${problem}.`,
      hint: `For example '{"url":"…"}'.`,
    })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw wrong(messageOf(error).replace(/, ".*$/s, ''))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong('it is something else')
  return { ...value }
}
