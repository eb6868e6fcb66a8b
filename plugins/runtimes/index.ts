import type { Plugin } from '../../src/plugin.ts'
import { RuntimeCheck } from './commands/runtime-check.ts'
import type { Runtimes } from './service.ts'

export type { Probed, Runtimes, Selection, Wanted } from './service.ts'

/** Chooses what runs containers or processes, and says which of them work here. */
const runtimes: Plugin = {
  name: 'runtimes',
  commands: [RuntimeCheck],
  services: {
    runtimes: async app =>
      (await import('./service.ts')).createRuntimes({
        contributed: async () => (await app.contributions('runtimes')).map(make => () => make(app)),
        env: app.env,
        log: app.log,
      }),
  },
}
export default runtimes

declare module '../../src/plugin.ts' {
  interface Services {
    runtimes: Runtimes
  }
}
