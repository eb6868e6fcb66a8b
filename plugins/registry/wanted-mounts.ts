import { createHash } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import { join, posix, relative, resolve } from 'node:path'
import type { PermissionProfile } from '../../src/contracts/run-config.ts'
import { isMissing } from '../../src/lib/atomic-file.ts'
import { clean, printableJson } from '../../src/lib/printable.ts'

/** A file or folder of this machine that an entry asks for. */
export interface WantedMount {
  /** Its real path: absolute, links resolved. */
  readonly source: string
  /** The path inside the container. */
  readonly target: string
  readonly access: 'read' | 'write'
  /** A warning for the user. */
  readonly remark?: string
}

export interface WantedMounts {
  readonly mounts: readonly WantedMount[]
  /**
   * Identifies exactly these mounts: SHA-256 of their JSON, `[access, source, target]` each, sorted.
   * Undefined when there are none.
   */
  readonly hash: string | undefined
  /** Mounts that cannot be made, and why. */
  readonly problems: readonly string[]
}

/** Nobody reads a question about more mounts than this. */
const MOST = 20
/** Paths that mounts may have inside the container: no characters that could make the question misleading. */
const TARGET = /^\/[\w.@+~/-]{0,255}$/

/** Folders that paths of entries are relative to. */
export interface BaseFolders {
  /** For relative paths. */
  readonly cwd: string
  /** For paths that begin with `~`. */
  readonly home: string
}

/**
 * Resolves the mounts of an entry's permissions. `~`, `..`, relative paths and links are resolved, so what the
 * user is shown, what is hashed and what is mounted are the same. Resource URIs (`scheme://…`) name nothing on
 * this machine and are left out.
 */
export async function findWantedMounts(
  { read, write }: Pick<PermissionProfile, 'read' | 'write'>,
  base: BaseFolders,
): Promise<WantedMounts> {
  const texts = [
    ...(read ?? []).map(text => ({ text, access: 'read' as const })),
    ...(write ?? []).map(text => ({ text, access: 'write' as const })),
  ].filter(({ text }) => !/^[a-z][a-z0-9+.-]*:\/\//i.test(text))
  const found = await Promise.all(texts.map(({ text, access }) => resolveMount(text, access, base)))
  const mounts = found.flatMap(one => one.mount)
  const rows = mounts.map(({ access, source, target }) => JSON.stringify([access, source, target]))
  const digest = createHash('sha256').update(`[${[...new Set(rows)].sort().join(',')}]`)
  return {
    mounts,
    hash: mounts.length ? `sha256:${digest.digest('hex')}` : undefined,
    problems: [
      ...(found.length > MOST
        ? [`${found.length} mounts, more than the ${MOST} that an entry may ask for`]
        : []),
      ...found.flatMap(one => one.problem ?? []),
      ...nested(mounts),
    ],
  }
}

/** Resolves one mount, `PATH` or `HOST:CONTAINER`. One that cannot be made is returned with a problem. */
async function resolveMount(
  text: string,
  access: WantedMount['access'],
  { cwd, home }: BaseFolders,
): Promise<{ mount: WantedMount; problem?: string }> {
  const at = text.indexOf(':', /^[A-Za-z]:[\\/]/.test(text) ? 2 : 0)
  const host = at < 0 ? text : text.slice(0, at)
  const path = /^~(?=\/|$)/.test(host) ? join(home, host.slice(1)) : resolve(cwd, host)
  const inside = at < 0 ? path : text.slice(at + 1)
  const mount = { source: path, target: posix.normalize(inside), access }
  const wrong = (problem: string) => ({
    mount,
    problem: `${access} ${printableJson(JSON.stringify(text.slice(0, 200)))}: ${problem}`,
  })
  if (host === '' || (at >= 0 && !TARGET.test(inside))) return wrong('it is not PATH or HOST:CONTAINER')
  try {
    const source = await realpath(path)
    if (/[\p{C}\p{Zl}\p{Zp}:$&;|`]/u.test(source + inside))
      return wrong('it contains characters that a mount may not have')
    const remark = await remarkOn(source, home)
    return { mount: { ...mount, source, ...(remark ? { remark } : {}) } }
  } catch (error) {
    return wrong(isMissing(error) ? 'it does not exist on this machine' : 'it cannot be read')
  }
}

/** What lies in a folder that the server may change can be another thing at the next start: a link, say. */
const nested = (mounts: readonly WantedMount[]): string[] =>
  mounts.flatMap(({ access, source }) => {
    const outer = mounts.find(
      other => other.access === 'write' && source !== other.source && isWithin(source, other.source),
    )
    if (!outer) return []
    const [inner, folder] = [source, outer.source].map(path => printableJson(JSON.stringify(path)))
    return [`${access} ${inner}: it lies in ${folder}, which the server may change`]
  })

const isWithin = (path: string, folder: string): boolean => !/^\.\.(?:\/|$)/.test(relative(folder, path))

async function remarkOn(source: string, home: string): Promise<string | undefined> {
  if (source === '/') return 'everything on this machine'
  if ((await stat(source)).isSocket())
    return 'a socket: the server could command what listens there, for example a container engine'
  const realHome = await realpath(home).catch(() => home)
  const below = relative(realHome, source)
  if (below === '') return 'your home folder, with keys and logins'
  if (!relative(source, realHome).startsWith('..')) return 'contains your home folder'
  if (/^\.[^.]/.test(below)) return 'a hidden folder of your home, often with keys and logins'
  return /^\/(?:etc|proc|sys|dev|boot|root|run|var\/run)(?:\/|$)/.test(source)
    ? 'a part of the system'
    : undefined
}

/** One mount a line, for a person. */
export const mountLines = (mounts: readonly WantedMount[]): string[] =>
  mounts.map(({ access, source, target, remark }) => {
    const where = target === source ? source : `${source} (as ${target})`
    return clean(`  ${access.padEnd(5)} ${where}${remark ? ` — ${remark}` : ''}`)
  })

/** The mounts as a permission profile writes them. */
export function toMountLists(mounts: readonly WantedMount[]): Pick<PermissionProfile, 'read' | 'write'> {
  const of = (access: WantedMount['access']) =>
    mounts.filter(mount => mount.access === access).map(({ source, target }) => `${source}:${target}`)
  const [read, write] = [of('read'), of('write')]
  return { ...(read.length ? { read } : {}), ...(write.length ? { write } : {}) }
}
