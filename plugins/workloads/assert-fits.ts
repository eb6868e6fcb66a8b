import type { Target } from '../../src/contracts/target.ts'
import { failures as core } from '../../src/errors.ts'
import type { RunRequest } from './build-config.ts'

const PACKAGE = ['build-with', 'runtime-image', 'runtime-add-package']
const INSTANCE = [
  ...['runtime', 'env', 'env-file', 'env-file-dir', 'volume', 'publish', 'network', 'memory', 'cpus'],
  ...['no-sandbox', 'permission-profile', 'target-host', 'target-port', 'secret'],
]

/** Refuses flags that can have no effect on such a target; nothing asked for is left out in silence. */
export function assertFits(
  { kind, defaultTransport }: Pick<Target, 'kind' | 'defaultTransport'>,
  { argument, given, serverArgs, flags }: Pick<RunRequest, 'argument' | 'given' | 'serverArgs' | 'flags'>,
): void {
  const refuse = (names: readonly string[], why: string) => {
    const name = names.find(candidate => given.has(candidate))
    if (name !== undefined)
      throw core.usage({ text: `--${name} does not go with ${why}`, hint: 'Leave it out.' })
  }
  if (kind === 'remote') {
    refuse([...INSTANCE, ...PACKAGE], `the URL ${argument}: that server is run by somebody else.`)
    if (serverArgs.length > 0) {
      throw core.usage({
        text: `Arguments behind -- do not go with the URL ${argument}.`,
        hint: 'Leave them out.',
      })
    }
  }
  if (kind === 'image') refuse(['no-sandbox'], `the image ${argument}: its container is the sandbox.`)
  if (kind === 'image') refuse(PACKAGE, `the image ${argument}: it is for packages (npx://, uvx://, go://).`)
  if ((flags.transport ?? defaultTransport) === 'stdio') {
    refuse(['target-host', 'target-port'], '--transport stdio: such a server listens on no port.')
  }
}
