import type { Plugin } from '../../src/plugin.ts'
import type {} from '../state/index.ts'
import { ToolsOf } from './commands/tools-of.ts'
import { toolsMiddleware } from './middleware.ts'
import { toolsSection } from './section.ts'
import type { ToolControls } from './tool-controls.ts'

export { createNames } from './name-pattern.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    toolControls: ToolControls
  }
}

/** Selects which tools of a server clients see and may call, and how they are shown. */
const tools: Plugin = {
  name: 'tools',
  needs: ['proxy', 'state'],
  uses: ['supervisor', 'workloadStore'],
  commands: [ToolsOf],
  services: { toolControls: () => new Map() },
  provides: {
    sections: [toolsSection],
    middlewares: [
      app => async (config, listener, context) =>
        toolsMiddleware(await app.service('toolControls'))(config, listener, context),
    ],
    supervisorOperations: [
      async app => (await import('./edit/tools-operation.ts')).createToolsOperation(app),
    ],
  },
}
export default tools
