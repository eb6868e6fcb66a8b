import { clean } from '../../src/lib/printable.ts'
import { choosePackage } from './formats/package-image.ts'
import type { ServerJson } from './formats/server-json.ts'

const SHOWN = 10

/**
 * Returns the engine arguments that an entry asks for, such as `--volume`, `--privileged` and `--network`. They
 * are never passed on: only the user's own flags configure a container. Variables (`-e`) are not among them;
 * they are read as variables.
 */
export function withheldArguments(server: ServerJson): string[] {
  const chosen = choosePackage(server.packages)
  if (chosen?.registryType !== 'oci') return []
  return (chosen.runtimeArguments ?? [])
    .filter(({ type, name }) => !(type === 'named' && (name === '-e' || name === '--env')))
    .map(({ name, value, default: fallback }) => [name, value ?? fallback].filter(Boolean).join(' '))
    .slice(0, SHOWN)
    .map(text => clean(text).slice(0, 200))
}
