import { join } from 'node:path'
import type { Plugin } from '../../src/plugin.ts'
import type { Builds } from './artifact/builds.ts'
import { SkillBuild } from './commands/skill-build.ts'
import { SkillBuilds } from './commands/skill-builds.ts'
import { SkillBuildsRemove } from './commands/skill-builds-remove.ts'
import { SkillPush } from './commands/skill-push.ts'
import { SkillValidate } from './commands/skill-validate.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    skillBuilds: Builds
  }
}

/** Finds, installs and keeps skills for AI clients. */
const skills: Plugin = {
  name: 'skills',
  needs: ['oci', 'image-verification', 'registry', 'clients', 'groups'],
  commands: [SkillValidate, SkillBuild, SkillBuilds, SkillBuildsRemove, SkillPush],
  routes: async (api, app) => {
    await (await import('./artifact/routes.ts')).buildRoutes(api, app)
  },
  services: {
    skillBuilds: async app =>
      (await import('./artifact/builds.ts')).createBuilds({
        folder: join(app.paths.data, 'skills', 'builds'),
        oci: () => app.service('oci'),
        env: app.env,
      }),
  },
}
export default skills
