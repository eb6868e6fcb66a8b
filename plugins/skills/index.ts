import { join } from 'node:path'
import type { Plugin } from '../../src/plugin.ts'
import type {} from '../settings/index.ts'
import type {} from '../skill-sources/index.ts'
import { SkillInfo } from './commands/skill-info.ts'
import { SkillInstall } from './commands/skill-install.ts'
import { SkillList } from './commands/skill-list.ts'
import { SkillSync } from './commands/skill-sync.ts'
import { SkillUninstall } from './commands/skill-uninstall.ts'
import { SkillUpgrade } from './commands/skill-upgrade.ts'
import type { Skills } from './service.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    skills: Skills
  }
}

/** Installs skills for AI clients, and keeps projects in step with their lock files. */
const skills: Plugin = {
  name: 'skills',
  needs: ['clients', 'groups', 'settings', 'skill-artifacts', 'skill-sources'],
  uses: ['groups', 'settings', 'skillSources'],
  commands: [SkillList, SkillInfo, SkillInstall, SkillUninstall, SkillSync, SkillUpgrade],
  routes: async (api, app) => {
    await (await import('./routes.ts')).skillRoutes(api, app)
    await (await import('./update-routes.ts')).updateRoutes(api, app)
  },
  services: {
    skills: async app =>
      (await import('./service.ts')).createSkills({
        folder: join(app.paths.data, 'skills'),
        surroundings: { home: app.paths.home, env: app.env, platform: process.platform },
        groups: await app.service('groups'),
        sources: () => app.service('skillSources'),
        log: app.log,
      }),
  },
}
export default skills
