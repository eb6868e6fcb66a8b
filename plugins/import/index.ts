import type { Plugin } from '../../src/plugin.ts'
import type {} from '../groups/index.ts'
import type {} from '../workloads/index.ts'
import { ImportCommand } from './commands/import.ts'
import type { Imports } from './service.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    imports: Imports
  }
}

/** Makes workloads of the servers that other tools have configured. */
const importPlugin: Plugin = {
  name: 'import',
  needs: ['groups', 'workloads'],
  uses: ['groups', 'workloads'],
  commands: [ImportCommand],
  services: {
    async imports(app) {
      const [{ createImports }, workloads, groups] = await Promise.all([
        import('./service.ts'),
        app.service('workloads'),
        app.service('groups'),
      ])
      return createImports({ app, workloads, groups })
    },
  },
}
export default importPlugin
