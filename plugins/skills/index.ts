import { join } from 'node:path'
import type { Plugin } from '../../src/plugin.ts'
import type {} from '../skill-artifacts/index.ts'
import { SkillContentCommand } from './commands/skill-content.ts'
import { SkillInfo } from './commands/skill-info.ts'
import { SkillInstall } from './commands/skill-install.ts'
import { SkillList } from './commands/skill-list.ts'
import { SkillSync } from './commands/skill-sync.ts'
import { SkillUninstall } from './commands/skill-uninstall.ts'
import { SkillUpgrade } from './commands/skill-upgrade.ts'
import type { Skills } from './service.ts'
import type { SkillSources } from './skill.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    skills: Skills
    skillSources: SkillSources
  }
}

/** Finds, installs and keeps skills for AI clients. */
const skills: Plugin = {
  name: 'skills',
  needs: ['skill-artifacts', 'oci', 'image-verification', 'registry', 'clients', 'groups'],
  uses: ['groups', 'imageVerification', 'oci', 'registry', 'skillBuilds'],
  commands: [
    SkillList,
    SkillInfo,
    SkillContentCommand,
    SkillInstall,
    SkillUninstall,
    SkillSync,
    SkillUpgrade,
  ],
  routes: async (api, app) => {
    await (await import('./source/routes.ts')).contentRoutes(api, app)
    await (await import('./routes.ts')).skillRoutes(api, app)
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
    async skillSources(app) {
      const [{ createSkillSources }, oci, registry, verification, builds] = await Promise.all([
        import('./source/sources.ts'),
        app.service('oci'),
        app.service('registry'),
        app.service('imageVerification'),
        app.service('skillBuilds'),
      ])
      const scratch = join(app.paths.cache, 'skills')
      return createSkillSources({ oci, registry, verification, builds, env: app.env, scratch })
    },
  },
}
export default skills
