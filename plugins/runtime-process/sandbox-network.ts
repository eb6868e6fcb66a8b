import { createHash } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as t from 'typanion'
import type { Isolation, PortAccess } from '../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { parseDocument } from '../../src/parse-document.ts'
import type { Bubblewrap } from './find-bubblewrap.ts'

/** Port of the egress proxy on the loopback of a sandbox, where nothing else listens. */
export const EGRESS_PORT = 3128

const note = t.isObject({ instance: t.isString(), workload: t.isString() })

/** Files of one isolated network. Paths are short, since a socket path has at most 108 bytes on Linux (unix(7)). */
export const networkFiles = (root: string, instance: string) => {
  const folder = join(root, createHash('sha256').update(instance).digest('hex').slice(0, 12))
  return {
    folder,
    note: join(folder, 'instance.json'),
    /** All that the sandbox sees; it cannot change it. */
    sockets: join(folder, 's'),
    egress: join(folder, 's', 'out'),
    callback: (port: number) => join(folder, 's', String(port)),
  }
}

/** How this host reaches the ports of an isolated instance. */
export const portAccessOf = (root: string, instance: string, ports: readonly number[]): PortAccess => ({
  callbacks: ports.map(port => ({ port, path: networkFiles(root, instance).callback(port) })),
})

/** Sandboxes without a network, whose only connections in and out are sockets in a folder of this host. */
export function createSandboxNetworks(options: {
  /** Where the sockets are kept. */
  root: string
  bubblewrap: () => Promise<Bubblewrap>
}): Isolation {
  const { root, bubblewrap } = options
  return {
    async probe() {
      const found = await bubblewrap()
      if (found.works) return { ok: true, warnings: [] }
      return { ok: false, problem: `${found.problem}.`, hint: found.hint, fallback: true }
    },

    async prepare(instance, { workload }) {
      const found = await bubblewrap()
      if (!found.works) {
        const problem = `${found.problem}.`
        throw runtimeFailures.isolation_unsupported({ runtime: 'process', problem, hint: found.hint })
      }
      const files = networkFiles(root, instance)
      await mkdir(files.sockets, { recursive: true, mode: 0o700 })
      await writeFileAtomic(files.note, JSON.stringify({ instance, workload }))
      return {
        proxyAddress: { path: files.egress },
        proxyUrl: `http://127.0.0.1:${EGRESS_PORT}`,
        gateways: [],
        warnings: [],
      }
    },

    activate: async () => undefined,

    remove: instance => rm(networkFiles(root, instance).folder, { recursive: true, force: true }),

    async list() {
      const folders = await readdir(root).catch(() => [])
      const notes = await Promise.all(
        folders.map(async folder => {
          const path = join(root, folder, 'instance.json')
          const text = await readFileIfThere(path).catch(() => undefined)
          return text === undefined ? undefined : parseDocument(text, path, note)
        }),
      )
      return notes.filter(found => found !== undefined)
    },
  }
}
