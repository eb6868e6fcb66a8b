import type { Attachment, Exit, Instance } from '../../src/contracts/runtime.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import { attachByCommand } from './attach-by-command.ts'
import { attachBySocket } from './attach-by-socket.ts'
import type { AttachOptions } from './attach-options.ts'
import type { OpenCall } from './engine-cli.ts'

/**
 * Starts a stopped instance and holds its standard streams: over the engine's socket if that is on this host, else
 * through the engine's program, which takes 7.5 MiB. Returns once the instance runs or has run.
 *
 * Closing the attachment ends the instance's standard input, since the engine closes it with its one holder.
 * A server that reads its input then ends; nothing else stops it.
 */
export async function attachInstance(
  options: AttachOptions,
): Promise<Attachment & Pick<OpenCall, 'dropUnread'>> {
  const streams = (await attachBySocket(options)) ?? (await attachByCommand(options))
  const { stdin, stdout, stderr, ended, dropUnread, kill } = streams
  return {
    ...{ stdin, stdout, stderr, dropUnread },
    exit: ended.then(code => describeExit(code, options.inspect)),
    detach: kill,
  }
}

/** Never rejects. An exit that cannot be found out has no code, and says why. */
async function describeExit(
  code: number | undefined,
  inspect: () => Promise<Instance | undefined>,
): Promise<Exit> {
  try {
    const now = await inspect()
    if (!now) return { ...(code === undefined ? {} : { code }), reason: 'it was removed' }
    if (now.state === 'running') return { reason: 'its standard streams broke; it still runs' }
    const { exitCode = code, reason } = now
    return { ...(exitCode === undefined ? {} : { code: exitCode }), ...(reason ? { reason } : {}) }
  } catch (error) {
    return { reason: isFailure(error) ? error.message : messageOf(error) }
  }
}
