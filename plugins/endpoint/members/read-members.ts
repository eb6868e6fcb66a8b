import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { StatusRecord } from '../../../src/contracts/workload.ts'
import { hasCallers } from '../../../src/has-callers.ts'
import { clientUrl, effectiveMode } from '../../proxy/index.ts'
import type { WorkloadStore } from '../../state/index.ts'
import { type EndpointSettings, isMember } from '../section.ts'
import type { Member } from './members.ts'

/** The servers behind an endpoint, by name. */
export async function readMembers(store: WorkloadStore, settings: EndpointSettings): Promise<Member[]> {
  const [configs, statuses] = await Promise.all([store.configs.list(), store.statuses.list()])
  return configs
    .filter(config => isMember(config, settings))
    .map(config => toMember(config, statuses.get(config.name)))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** @param record of its status */
export const toMember = (config: RunConfig, record: StatusRecord | undefined): Member => ({
  name: config.name,
  url: clientUrl(config),
  mode: effectiveMode(config),
  hasLogin: hasCallers(config),
  status: record?.status ?? 'stopped',
  reason: record?.status_context,
})
