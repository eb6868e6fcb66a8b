import { clean } from '../../src/lib/printable.ts'
import { choosePackage } from './formats/package-image.ts'
import type { ServerJson } from './formats/server-json.ts'

const SHOWN = 10

/**
 * Says which arguments of the engine's command line an entry asks for (`--volume`, `--privileged`,
 * `--network`). None is ever passed on: only the user's own flags shape a container. Variables (`-e`)
 * are read as variables.
 */
export function withheldArguments(server: ServerJson): string[] {
  const chosen = choosePackage(server.packages)
  if (chosen?.registryType !== 'oci') return []
  const withheld = (chosen.runtimeArguments ?? [])
    .filter(({ type, name }) => !(type === 'named' && (name === '-e' || name === '--env')))
    .map(({ name, value, default: fallback }) => [name, value ?? fallback].filter(Boolean).join(' '))
  if (!withheld.length) return []
  const shown = withheld.slice(0, SHOWN).map(text => clean(text).slice(0, 200))
  return [
    `"${clean(server.name)}" asks for arguments of the engine, which no entry is given: ${shown.join(', ')}. What it needs of them is yours to give, e.g. with --volume.`,
  ]
}
