import { isAbsolute, posix } from 'node:path'
import type { Log } from '../log.ts'
import type { RunConfig } from './run-config.ts'
import type { Mount } from './runtime.ts'
import { runtimeFailures } from './runtime-failures.ts'

/**
 * The bind mounts of a workload: its volumes and what its permission profile lets it read and write.
 *
 * The same target twice is mounted once, writable if either says so. Resource URIs of profiles
 * (`scheme://resource:path`) name nothing on this host and are left out with a warning.
 */
export function toMounts(config: RunConfig, log: Log): Mount[] {
  const mounts = new Map<string, Mount>()
  const add = (mount: Mount) => {
    const before = mounts.get(mount.target)
    mounts.set(mount.target, before && !before.readOnly ? before : mount)
  }
  for (const text of config.volumes ?? []) {
    const readOnly = text.endsWith(':ro')
    add(parseMount(text.replace(/:(ro|rw)$/, ''), readOnly, 'volumes'))
  }
  const { read = [], write = [] } = config.permission_profile ?? {}
  for (const [list, readOnly] of [
    [read, true],
    [write, false],
  ] as const) {
    for (const text of list) {
      if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
        log.warn(`"${text}" of the permission profile is not a path and is not mounted.`)
      } else add(parseMount(text, readOnly, `permission_profile.${readOnly ? 'read' : 'write'}`))
    }
  }
  return [...mounts.values()]
}

/** `path` (the same inside) or `host:container`; a drive letter's colon does not count. */
function parseMount(text: string, readOnly: boolean, field: string): Mount {
  const wrong = (wanted: string) => runtimeFailures.mount_wrong({ field, value: text, wanted })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  if (/[\u0000-\u001f$&;|`]/.test(text)) throw wrong('a path without control characters, $, &, ;, | and `')
  const at = text.indexOf(':', /^[A-Za-z]:[\\/]/.test(text) ? 2 : 0)
  const source = at < 0 ? text : text.slice(0, at)
  const target = at < 0 ? text : text.slice(at + 1)
  if (!isAbsolute(source)) throw wrong('an absolute path on this host')
  if (!posix.isAbsolute(target) || target.includes(':')) throw wrong('an absolute path inside the container')
  return { source, target: posix.normalize(target), readOnly }
}
