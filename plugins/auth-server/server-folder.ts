import { join } from 'node:path'
import type { Paths } from '../../src/paths.ts'

/** The folder of a workload's authorization server: its database and the keys that nobody else named. */
export const serverFolder = ({ state }: Pick<Paths, 'state'>, workload: string): string =>
  join(state, 'auth-servers', workload)

/** The folder of the authorization server of the management API. */
export const apiFolder = ({ state }: Pick<Paths, 'state'>): string => join(state, 'server', 'auth-server')
