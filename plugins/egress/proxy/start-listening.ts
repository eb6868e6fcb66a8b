import { chmod, lstat, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import type { ListenAddress } from '../../../src/contracts/runtime.ts'

/** Starts to listen and returns the address. Only its owner can use a socket file. An abandoned one is replaced. */
export async function startListening(server: Server, where: ListenAddress): Promise<ListenAddress> {
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

/** Whether the path is a socket that no process serves. Anything else at the path stays. */
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

export const describeAddress = (where: ListenAddress): string =>
  'path' in where ? where.path : `${where.host}:${where.port}`
