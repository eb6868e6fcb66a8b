import { once } from 'node:events'
import { chmod, lstat, mkdir, rm } from 'node:fs/promises'
import { connect, type ListenOptions, type Server } from 'node:net'
import { dirname } from 'node:path'
import { messageOf } from '../../src/errors.ts'
import { failures } from './failures.ts'

/** Returns the port that is listened on. */
export async function listenOnPort(server: Server, host: string, port: number): Promise<number> {
  await listen(server, { host: host.replace(/^\[|\]$/g, ''), port }).catch(error => {
    throw explain(error, `${host}:${port}`)
  })
  const address = server.address()
  return typeof address === 'object' && address ? address.port : port
}

/**
 * Listens on a socket that only this user may open, from its first moment. A socket of a killed program is
 * replaced. Fails with `serve_address_busy` when another server listens there, and with
 * `serve_address_invalid` for any other file. Returns a function that removes the socket.
 */
export async function listenOnSocket(server: Server, path: string): Promise<() => Promise<void>> {
  await removeAbandonedSocket(path)
  const before = process.umask(0o177)
  try {
    await listen(server, { path })
  } catch (error) {
    throw explain(error, path)
  } finally {
    process.umask(before)
  }
  await chmod(path, 0o600)
  return () => rm(path, { force: true })
}

async function listen(server: Server, place: ListenOptions): Promise<void> {
  server.listen({ ...place, exclusive: true })
  await once(server, 'listening') // fails with the error, if that comes
}

/** Makes the folder of a socket, and removes a socket that no process listens on. */
async function removeAbandonedSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (!found) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(error => {
      throw explain(error, path)
    })
    return
  }
  if (!found.isSocket())
    throw failures.serve_address_invalid({ address: path, problem: 'it is not a socket' })
  if (await isServed(path)) throw failures.serve_address_busy({ address: path })
  await rm(path, { force: true })
}

/** Whether a process listens on the socket. */
const isServed = (path: string): Promise<boolean> =>
  new Promise(resolve => {
    const probe = connect(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve(true)
    })
    probe.once('error', () => resolve(false))
  })

function explain(error: unknown, address: string): Error {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') return failures.serve_address_busy({ address })
  return failures.serve_address_invalid({ address, problem: messageOf(error) }, { cause: error })
}
