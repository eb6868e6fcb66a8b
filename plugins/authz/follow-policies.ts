import type { RunConfig } from '../../src/contracts/run-config.ts'
import { messageOf } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import type { Decider } from './decider.ts'
import { configOf, openDecider } from './open-decider.ts'
import { watchConfigFile } from './watch-file.ts'

export interface Policies {
  current(): Decider
  close(): void
}

/**
 * The policies of a workload: those of its file as it is now. A file that cannot be used any more changes nothing.
 * Fails with `authz_config_invalid`, or as `readUserFile` does, where there are none to begin with.
 */
export async function followPolicies(
  config: RunConfig,
  { log, onChanged }: { log: Log; onChanged: () => void },
): Promise<Policies> {
  const open = async () => {
    const source = await configOf(config)
    return {
      text: JSON.stringify(source.authz),
      decider: await openDecider(source, { server: config.name, log }),
    }
  }
  let isClosed = false
  let work: Promise<unknown> = Promise.resolve()
  const path = config.authz_config_path
  // Before it is read: a change while the policies are opened counts, too.
  const stop = path
    ? watchConfigFile(path, () => {
        work = work.then(read)
      })
    : undefined
  const first = open()
  work = first.catch(() => stop?.())
  let { text, decider } = await first

  async function read(): Promise<void> {
    if (isClosed) return
    try {
      const changed = await open()
      if (isClosed || changed.text === text) return changed.decider.close()
      decider.close()
      ;({ text, decider } = changed)
      log.info('the policies have changed', { file: config.authz_config_path })
      onChanged()
    } catch (error) {
      log.error('the policies stay as they were', { problem: messageOf(error) })
    }
  }

  return {
    current: () => decider,
    close() {
      isClosed = true
      stop?.()
      decider.close()
    },
  }
}
