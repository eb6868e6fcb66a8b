import { readFile, stat } from 'node:fs/promises'
import { findOnPath } from '../../src/lib/find-on-path.ts'

/** The variables that name the settings and the storage of podman. */
const SETTINGS = [
  'HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_RUNTIME_DIR',
  'CONTAINERS_CONF',
  'CONTAINERS_CONF_OVERRIDE',
  'CONTAINERS_STORAGE_CONF',
]

/**
 * Changes with the program, with its settings and with each start of this host. Undefined where the engine may be on
 * another host, or where nothing says when this one was started.
 */
export async function identifyPodman(
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if (env.CONTAINER_HOST || env.CONTAINER_CONNECTION) return undefined
  try {
    const program = await findOnPath('podman', env.PATH ?? '')
    if (program === undefined) return undefined
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(program)
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
    const settings = SETTINGS.map(name => `${name}=${env[name] ?? ''}`)
    return [program, dev, ino, size, mtimeMs, ctimeMs, boot.trim(), ...settings].join('\n')
  } catch {
    return undefined
  }
}
