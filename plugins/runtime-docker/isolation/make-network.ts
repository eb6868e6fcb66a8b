import { runtimeFailures } from '../../../src/contracts/runtime-failures.ts'
import { messageOf } from '../../../src/errors.ts'
import { LABEL } from '../../../src/lib/labels.ts'
import type { Dialect, EngineNetwork } from '../dialect.ts'
import type { ApiRequest, EngineCli } from '../engine-cli.ts'
import { readId } from '../engine-socket.ts'
import type { NetworkStore, ProxyLocation, WantedNetwork } from './network-store.ts'
import { candidates, DEFAULT_RANGE, nextAddress, parseRange, type Subnet, takenRanges } from './subnets.ts'

const TRIES = 20
/** Tries where this host does not see the engine's subnets. Many may be taken, and each taken one costs a call. */
const TRIES_ELSEWHERE = 200

/**
 * Makes an internal network in the first free subnet of `KEELSON_ISOLATION_RANGE`. Undefined when there is a network
 * of that name already. Fails with `isolation_unsupported`.
 */
export async function makeNetwork(
  wanted: WantedNetwork,
  options: {
    dialect: Dialect
    cli: EngineCli
    owner: string
    env: Readonly<Record<string, string | undefined>>
    hint: string
    find: NetworkStore['find']
  },
): Promise<EngineNetwork | undefined> {
  const { dialect, cli, owner, env, hint, find } = options
  const { name, instance, place, signal } = wanted
  const { isolation, name: runtime } = dialect
  const text = env.KEELSON_ISOLATION_RANGE || DEFAULT_RANGE
  const unsupported = (problem: string) => runtimeFailures.isolation_unsupported({ runtime, problem, hint })
  const range = parseRange(text)
  if (!range) throw unsupported(`KEELSON_ISOLATION_RANGE is "${text}", not a range such as ${DEFAULT_RANGE}.`)
  const taken = await takenRanges()
  let tries = place === 'helper' ? TRIES_ELSEWHERE : TRIES
  for (const subnet of candidates(range, { name, half: isolation.half })) {
    if (subnet.overlaps(taken)) continue
    if (tries-- === 0) break
    const labels = labelsOf(wanted, owner, subnet)
    try {
      const created = await cli.run(
        createArguments(name, subnet, { place, labels, isolation }),
        { doing: `create the network of "${instance}"` },
        // Without a gateway its options differ between engines, which only the arguments say.
        { signal, api: place === 'gateway' ? createRequest(name, subnet, labels) : undefined },
      )
      const bridge = isolation.bridgeOf?.(created)
      if (!bridge) return await find(name)
      return { name, bridge, gateway: subnet.gateway, internal: true, labels }
    } catch (error) {
      const words = messageOf(error)
      if (/already exists|name .* already used/i.test(words)) return undefined
      if (!/overlap|already used|conflicts with network/i.test(words)) throw error
    }
  }
  throw unsupported(`no free network was found in ${text} (KEELSON_ISOLATION_RANGE names another range).`)
}

const labelsOf = (
  { workload, instance, place, port }: WantedNetwork,
  owner: string,
  { gateway }: Subnet,
): Record<string, string> => ({
  [LABEL.managed]: 'true',
  [LABEL.owner]: owner,
  [LABEL.name]: workload,
  [LABEL.instance]: instance,
  [LABEL.egressPort]: String(port),
  ...(place === 'helper' ? { [LABEL.helper]: nextAddress(gateway, 2) } : {}),
})

const createArguments = (
  name: string,
  { cidr, gateway }: Subnet,
  options: {
    place: ProxyLocation
    labels: Readonly<Record<string, string>>
    isolation: Dialect['isolation']
  },
): string[] => [
  'network',
  'create',
  '--internal',
  '--driver=bridge',
  `--subnet=${cidr}`,
  ...(options.place === 'gateway' ? [`--gateway=${gateway}`] : options.isolation.hostless(gateway)),
  ...Object.entries(options.labels).map(([key, value]) => `--label=${key}=${value}`),
  ...options.isolation.createArguments,
  name,
]

const createRequest = (
  name: string,
  { cidr, gateway }: Subnet,
  labels: Readonly<Record<string, string>>,
): ApiRequest => ({
  method: 'POST',
  path: '/networks/create',
  body: {
    ...{ Name: name, CheckDuplicate: true, Internal: true, Driver: 'bridge', Labels: labels },
    IPAM: { Driver: 'default', Config: [{ Subnet: cidr, Gateway: gateway }] },
  },
  print: readId,
})
