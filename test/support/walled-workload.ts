import { appendFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createWorkloadStore } from '../../plugins/state/workload-store.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { createLog } from '../../src/log.ts'
import { findPaths } from '../../src/paths.ts'
import type { KeelsonUser } from './keelson.ts'

type Outbound = { allow_host?: string[]; allow_port?: number[] }

/** An isolated workload that is stopped, with what its profile allows and further members of its run config. */
export async function makeWalled(
  user: KeelsonUser,
  { name, outbound, ...more }: { name: string; outbound: Outbound } & Partial<RunConfig>,
): Promise<void> {
  const log = createLog({ write: () => undefined, human: false, debug: false })
  const { configs } = createWorkloadStore({ paths: findPaths(user.env, process.platform), log })
  await configs.save({
    schema_version: 'v0.1.0',
    name,
    transport: 'stdio',
    runtime: 'process',
    source: `npx://${name}@1.0.0`,
    image: `npx://${name}@1.0.0`,
    port: 20_001,
    isolate_network: true,
    permission_profile: { network: { outbound } },
    ...more,
  } as RunConfig)
}

/** Logs a denial as the proxy of the workload does. */
export async function deny(user: KeelsonUser, name: string, host: string, port = 443): Promise<void> {
  const folder = join(user.home, '.local/share/keelson/logs')
  await mkdir(folder, { recursive: true })
  const denial = { host, port, rule: 'not_in_allow_host', reason: `${host} is not in allow_host` }
  const line = { time: new Date().toISOString(), level: 'WARN', msg: 'egress denied', ...denial }
  await appendFile(join(folder, `${name}.log`), `${JSON.stringify(line)}\n`)
}
