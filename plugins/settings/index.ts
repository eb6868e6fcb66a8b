import type { Plugin } from '../../src/plugin.ts'
import type { Settings } from './service.ts'

export type { Settings, SettingsChange } from './service.ts'
export type { OtelSettings, RegistryAuth, SettingsDocument } from './settings-document.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    settings: Settings
  }
}

/** What a user has set once and for all, in one file. */
const settings: Plugin = {
  name: 'settings',
  services: {
    settings: async app => (await import('./service.ts')).createSettings({ paths: app.paths }),
  },
}
export default settings
