import type { Plugin } from '../../src/plugin.ts'
import { ensurePrivateFolder } from '../../src/private-folder.ts'
import { RuntimeCheck } from './commands/runtime-check.ts'
import type { Runtimes } from './service.ts'

export type { Probed, Runtimes, Selection, Wanted } from './service.ts'

/** Chooses what runs containers or processes, and says which of them work here. */
const runtimes: Plugin = {
  name: 'runtimes',
  commands: [RuntimeCheck],
  services: {
    async runtimes(app) {
      ensurePrivateFolder(app.paths.runtime) // they keep sockets and short-lived files there
      return (await import('./service.ts')).createRuntimes({
        contributed: async () => (await app.contributions('runtimes')).map(make => () => make(app)),
        env: app.env,
        log: app.log,
      })
    },
  },
}
export default runtimes

declare module '../../src/plugin.ts' {
  interface Services {
    runtimes: Runtimes
  }
}
