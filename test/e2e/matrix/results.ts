import {
  CLIENTS,
  type ClientKind,
  exists,
  FEATURE_NAMES,
  type FeatureName,
  SERVERS,
  type ServerKind,
  serverName,
} from './combinations.ts'

/** What became of one feature between one client and one server. */
export type Cell = 'yes' | 'does not exist' | 'not tried' | `no: ${string}`

/** Why something does not work, by `keyOf`. All else works, or does not exist. */
export type Gaps = Record<string, string>

export const HANGS = 'no: hangs'

export interface Combination {
  readonly client: ClientKind
  readonly server: ServerKind
}

export const COMBINATIONS: readonly Combination[] = CLIENTS.flatMap(client =>
  SERVERS.map(server => ({ client, server })),
)

export const keyOf = (feature: FeatureName | 'everything', { client, server }: Combination): string =>
  `${client.name} → ${serverName(server)} ${server.transport}: ${feature}`

/** What is tried between a client and a server. */
export const featuresOf = (combination: Combination): FeatureName[] =>
  FEATURE_NAMES.filter(
    name => exists(name, combination.client, combination.server) && !isUntried(name, combination),
  )

const isUntried = (name: FeatureName, { client, server }: Combination): boolean =>
  [...(client.untried ?? []), ...(server.untried ?? [])].includes(name)

/** The cell that the gaps say. */
export function cellOf(gaps: Gaps, feature: FeatureName, combination: Combination): Cell {
  if (!exists(feature, combination.client, combination.server)) return 'does not exist'
  if (isUntried(feature, combination)) return 'not tried'
  const reason = gaps[keyOf(feature, combination)] ?? gaps[keyOf('everything', combination)]
  return reason === undefined ? 'yes' : `no: ${reason}`
}

/** The gaps among cells that were found, in the order of the data. Fails when a cell was not looked for. */
export function gapsOf(found: ReadonlyMap<string, Cell>): Gaps {
  const gaps: Gaps = {}
  for (const combination of COMBINATIONS) {
    const cells = featuresOf(combination).map(feature => {
      const key = keyOf(feature, combination)
      const cell = found.get(key)
      if (cell === undefined) throw new Error(`nobody tried ${key}`)
      return [key, cell] as const
    })
    const isSame = new Set(cells.map(([, cell]) => cell)).size === 1
    const told = isSame
      ? cells.slice(0, 1).map(([, cell]) => [keyOf('everything', combination), cell] as const)
      : cells
    for (const [key, cell] of told) if (cell.startsWith('no: ')) gaps[key] = cell.slice('no: '.length)
  }
  return gaps
}
