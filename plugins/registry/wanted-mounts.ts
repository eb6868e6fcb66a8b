import { createHash } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import { join, posix, relative, resolve } from 'node:path'
import type { PermissionProfile } from '../../src/contracts/run-config.ts'
import { isMissing } from '../../src/lib/atomic-file.ts'
import { clean, printableJson } from '../../src/lib/printable.ts'

/** A file or folder of this machine that an entry wants its server to use. */
export interface WantedMount {
  /** Where it really is: absolute, without links. */
  readonly source: string
  /** Where the server finds it. */
  readonly target: string
  readonly access: 'read' | 'write'
  /** What a person should know of it. */
  readonly remark?: string
}

export interface WantedMounts {
  readonly mounts: readonly WantedMount[]
  /**
   * Stands for exactly these mounts: SHA-256 of their JSON, `[access, source, target]` each, sorted.
   * Undefined when there are none.
   */
  readonly hash: string | undefined
  /** Mounts that cannot be made, and why. */
  readonly problems: readonly string[]
}

/** More than this, and nobody reads what they are asked. */
const MOST = 20
/** Where mounts of entries may appear: nothing that would make a question read otherwise than it is. */
const TARGET = /^\/[\w.@+~/-]{0,255}$/

/** Where the paths of entries begin. */
export interface Ground {
  /** Of relative paths. */
  readonly cwd: string
  /** Of paths that begin with `~`. */
  readonly home: string
}

/**
 * The mounts of an entry's permissions, resolved: `~`, `..`, relative paths and links are followed, so
 * that what a person is shown, what is hashed and what is mounted are the same. Resource URIs
 * (`scheme://…`) name nothing on this machine and are left out.
 */
export async function findWantedMounts(
  { read, write }: Pick<PermissionProfile, 'read' | 'write'>,
  ground: Ground,
): Promise<WantedMounts> {
  const texts = [
    ...(read ?? []).map(text => ({ text, access: 'read' as const })),
    ...(write ?? []).map(text => ({ text, access: 'write' as const })),
  ].filter(({ text }) => !/^[a-z][a-z0-9+.-]*:\/\//i.test(text))
  const found = await Promise.all(texts.map(({ text, access }) => resolveMount(text, access, ground)))
  const mounts = found.flatMap(one => one.mount)
  const rows = mounts.map(({ access, source, target }) => JSON.stringify([access, source, target]))
  const digest = createHash('sha256').update(`[${[...new Set(rows)].sort().join(',')}]`)
  return {
    mounts,
    hash: mounts.length ? `sha256:${digest.digest('hex')}` : undefined,
    problems: [
      ...(found.length > MOST ? [`${found.length} mounts, of which at most ${MOST} can be asked for`] : []),
      ...found.flatMap(one => one.problem ?? []),
      ...nested(mounts),
    ],
  }
}

/** The mount of one text, `PATH` or `HOST:CONTAINER`. One that cannot be made is kept as far as it can be told. */
async function resolveMount(
  text: string,
  access: WantedMount['access'],
  { cwd, home }: Ground,
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
      return wrong('it holds characters that no mount may have')
    const remark = await remarkOn(source, home)
    return { mount: { ...mount, source, ...(remark ? { remark } : {}) } }
  } catch (error) {
    return wrong(isMissing(error) ? 'it does not exist on this machine' : 'it cannot be looked at')
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
    return 'a socket: what listens there does what it is told, an engine anything'
  const realHome = await realpath(home).catch(() => home)
  const below = relative(realHome, source)
  if (below === '') return 'your home folder, with keys and logins'
  if (!relative(source, realHome).startsWith('..')) return 'holds your home folder'
  if (/^\.[^.]/.test(below)) return 'a hidden place of your home: often keys and logins'
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
