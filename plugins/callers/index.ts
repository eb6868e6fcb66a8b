import type { Plugin } from '../../src/plugin.ts'
import type {} from '../settings/index.ts'
import type { CallerToken } from './service.ts'

export { callerHeaders } from './caller-headers.ts'
export type { CallerToken } from './service.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    callerToken: CallerToken
  }
}

/** Keeps the token by which the user's own programs can be told from others. */
const callers: Plugin = {
  name: 'callers',
  needs: ['settings'],
  uses: ['settings'],
  services: {
    async callerToken(app) {
      const { createCallerToken } = await import('./service.ts')
      return createCallerToken({
        state: app.paths.state,
        settings: () => app.service('settings'),
        onChanged: () => app.notify('callerTokenChanged'),
      })
    },
  },
}
export default callers
