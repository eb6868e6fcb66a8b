import { dirname } from 'node:path'
import { readFileIfThere } from '../../src/lib/atomic-file.ts'
import { isPrivateFolder } from '../../src/private-folder.ts'
import { type Info, isInfo, type supervisorPaths } from './control-protocol.ts'
import { requestSupervisor, Unreachable } from './control-request.ts'

/**
 * The running supervisor: at its usual socket, or at the one that the holder of the lock has noted. That one may be in a
 * temporary folder that has been emptied since, where another user can make a folder of the same name.
 */
export async function findSupervisor(
  place: ReturnType<typeof supervisorPaths>,
): Promise<{ socket: string; info: Info } | undefined> {
  const noted = (await readFileIfThere(place.address))?.trim()
  for (const socket of new Set([place.socket, ...(noted ? [noted] : [])])) {
    if (!isPrivateFolder(dirname(socket))) continue
    try {
      const { body } = await requestSupervisor(socket, 'GET', '/info', { timeoutMs: 5000 })
      const info: unknown = JSON.parse(body)
      if (isInfo(info)) return { socket, info }
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
    }
  }
  return undefined
}
