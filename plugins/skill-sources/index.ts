import { join } from 'node:path'
import type { Plugin } from '../../src/plugin.ts'
import { SkillContentCommand } from './commands/skill-content.ts'
import type { SkillSources } from './service.ts'

export { describeReference, pinSkillReference } from './describe-reference.ts'
export { type FetchedSkill, type SkillSigner, skillSigner } from './fetched-skill.ts'
export type { SkillSources } from './service.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    skillSources: SkillSources
  }
}

/** Finds and fetches skills: registry names, OCI artifacts, git repositories, local builds. */
const skillSources: Plugin = {
  name: 'skill-sources',
  needs: ['image-verification', 'oci', 'registry', 'skill-artifacts'],
  uses: ['imageVerification', 'oci', 'registry', 'skillBuilds'],
  commands: [SkillContentCommand],
  routes: async (api, app) => (await import('./routes.ts')).contentRoutes(api, app),
  services: {
    async skillSources(app) {
      const [{ createSkillSources }, oci, registry, verification, builds] = await Promise.all([
        import('./service.ts'),
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
export default skillSources
