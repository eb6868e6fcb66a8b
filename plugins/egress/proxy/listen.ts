import { chmod, lstat, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'

/** Where a door listens: an address of this machine, or a socket file. Port 0 takes a free one. */
export type Listen = { readonly host: string; readonly port: number } | { readonly path: string }

/** Starts to listen and answers where. A socket file is for its owner alone; one that nobody serves is replaced. */
export async function startListening(server: Server, where: Listen): Promise<Listen> {
  if ('path' in where && (await isAbandoned(where.path))) await rm(where.path, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).once('listening', () => {
      server.off('error', reject)
      resolve()
    })
    server.listen('path' in where ? { path: where.path } : { ...where, exclusive: true })
  })
  if ('path' in where) {
    await chmod(where.path, 0o600)
    return where
  }
  return { host: where.host, port: (server.address() as AddressInfo).port }
}

/** A socket, and nobody at its other end. Anything else in the way stays. */
async function isAbandoned(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined)
  if (!stats?.isSocket()) return false
  return new Promise(resolve => {
    const probe = connect({ path })
    probe.once('connect', () => {
      probe.destroy()
      resolve(false)
    })
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
  })
}

export const describeListen = (where: Listen): string =>
  'path' in where ? where.path : `${where.host}:${where.port}`
