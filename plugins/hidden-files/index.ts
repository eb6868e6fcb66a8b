import type { App } from '../../src/app.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { HiddenPath, Mount } from '../../src/contracts/runtime.ts'
import type { Plugin } from '../../src/plugin.ts'
import { hiddenFilesSection } from './section.ts'

/** Keeps files that ignore files name out of what is mounted. */
export interface HiddenFiles {
  /** Paths inside the instance that must be hidden, as the mounted folders are now. */
  find(config: RunConfig, mounts: readonly Mount[]): Promise<HiddenPath[]>
}

declare module '../../src/plugin.ts' {
  interface Services {
    hiddenFiles: HiddenFiles
  }
}

/** Hides what ignore files name from servers that get the folder. */
const hiddenFiles: Plugin = {
  name: 'hidden-files',
  services: { hiddenFiles: async (app: App) => (await import('./service.ts')).createHiddenFiles(app) },
  provides: { sections: [hiddenFilesSection] },
}
export default hiddenFiles
