import { rm } from 'node:fs/promises'
import type { App } from '../../src/app.ts'
import type { Hooks } from '../../src/contracts/hooks.ts'
import { serverFolder } from './server-folder.ts'

/** Deletes the logins and keys of a workload that is gone: another one of its name must not accept them. */
export const authServerHooks = ({ paths }: App): Hooks => ({
  async workloadRemoved({ name, embedded_auth_server_config: section }) {
    if (section) await rm(serverFolder(paths, name), { recursive: true, force: true })
  },
})
