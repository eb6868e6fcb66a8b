import { resolve } from 'node:path'
import { type PermissionProfile, permissionProfileSchema } from '../../src/contracts/run-config.ts'
import { failures as core, isFailure } from '../../src/errors.ts'
import { parseDocument } from '../../src/parse-document.ts'
import { readUserFile } from '../../src/user-file.ts'

/** The built-in profiles: both mount nothing; they differ in what may be reached. */
export const BUILT_IN = {
  none: { name: 'none', network: { outbound: {} } },
  network: { name: 'network', network: { outbound: { insecure_allow_all: true } } },
} satisfies Readonly<Record<string, PermissionProfile>>

/** Reads `--permission-profile`: a built-in name (`stdio` is an old word for `none`) or a JSON file. */
export async function readProfile(nameOrPath: string, cwd: string): Promise<PermissionProfile> {
  const builtIns: Readonly<Record<string, PermissionProfile>> = BUILT_IN
  const builtIn = builtIns[nameOrPath === 'stdio' ? 'none' : nameOrPath]
  if (builtIn) return structuredClone(builtIn)
  const path = resolve(cwd, nameOrPath)
  let text: string
  try {
    text = await readUserFile(path, 'The --permission-profile')
  } catch (error) {
    if (!isFailure(error, 'file_missing')) throw error
    throw core.usage({
      text: `--permission-profile "${nameOrPath}" is neither none nor network, and there is no such file.`,
    })
  }
  return absoluteProfile(parseDocument(text, path, permissionProfileSchema), { cwd, path })
}

/** The profile with absolute paths of this host. `path` is named when one cannot be mounted. */
export function absoluteProfile(
  profile: PermissionProfile,
  { cwd, path }: { cwd: string; path: string },
): PermissionProfile {
  const { read, write } = profile
  return {
    ...profile,
    ...(read ? { read: read.map((mount, i) => absolute(mount, cwd, `${path}: read[${i}]`)) } : {}),
    ...(write ? { write: write.map((mount, i) => absolute(mount, cwd, `${path}: write[${i}]`)) } : {}),
  }
}

/** The same mount with an absolute path on this host; a path alone appears under that path inside. */
function absolute(mount: string, cwd: string, member: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(mount)) {
    throw core.usage({
      text: `${member} "${mount}" is a resource, not a path: resources cannot be mounted.`,
      hint: 'Write PATH or HOST:CONTAINER.',
    })
  }
  const at = mount.indexOf(':', /^[A-Za-z]:[\\/]/.test(mount) ? 2 : 0)
  return at < 0 ? resolve(cwd, mount) : `${resolve(cwd, mount.slice(0, at))}${mount.slice(at)}`
}
