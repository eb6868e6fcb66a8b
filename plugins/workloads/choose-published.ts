import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { WorkloadStore } from '../state/index.ts'
import type { RunRequest } from './build-config.ts'
import { findUntakenPort, portsOfOthers } from './free-ports.ts'

const LOOPBACK = '127.0.0.1'

/** Chooses the ports of this host that the user left to us, and says which. */
export async function choosePublished(
  config: RunConfig,
  store: Pick<WorkloadStore, 'configs'>,
  { say, replaces }: Pick<RunRequest, 'say' | 'replaces'>,
): Promise<RunConfig> {
  if (!config.publish?.some(text => !text.includes(':'))) return config
  const taken = (await portsOfOthers(store, config.name)).add(config.port)
  const publish: string[] = []
  for (const text of config.publish) {
    const before = replaces?.publish?.find(other => other.endsWith(`:${text}`))
    const chosen = text.includes(':') ? text : (before ?? `${await findUntakenPort(taken)}:${text}`)
    const [host = '', port] = chosen.split(':')
    taken.add(Number(host))
    if (chosen !== text) say?.(`Port ${port} of the server is published at ${LOOPBACK}:${host}.`)
    publish.push(chosen)
  }
  return { ...config, publish }
}
