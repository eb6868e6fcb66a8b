import { join } from 'node:path'
import type { Plugin } from '../../src/plugin.ts'
import { SkillBuild } from './commands/skill-build.ts'
import { SkillBuilds } from './commands/skill-builds.ts'
import { SkillBuildsRemove } from './commands/skill-builds-remove.ts'
import { SkillPush } from './commands/skill-push.ts'
import { SkillValidate } from './commands/skill-validate.ts'
import type { Builds } from './service.ts'

export { SKILL_ARTIFACT } from './artifact-names.ts'
export type { Build } from './find-build.ts'
export type { SkillFile } from './format/list-files.ts'
export { createCollisionCheck, pathProblem, printable } from './format/member-path.ts'
export { LIMITS } from './format/skill-limits.ts'
export { isSkillName, skillName } from './format/skill-name.ts'
export type { Builds } from './service.ts'
export { checkTree, contentDigest, extractSkill, listFiles, readSkill } from './skill-folder.ts'
export type { SkillManifest } from './skill-manifest.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    skillBuilds: Builds
  }
}

/** Checks, packs, stores, signs and pushes skills as OCI artifacts, and unpacks them. */
const skillArtifacts: Plugin = {
  name: 'skill-artifacts',
  needs: ['oci'],
  uses: ['oci'],
  commands: [SkillValidate, SkillBuild, SkillBuilds, SkillBuildsRemove, SkillPush],
  routes: async (api, app) => (await import('./routes.ts')).buildRoutes(api, app),
  services: {
    skillBuilds: async app =>
      (await import('./service.ts')).createBuilds({
        folder: join(app.paths.data, 'skills', 'builds'),
        oci: () => app.service('oci'),
        env: app.env,
      }),
  },
}
export default skillArtifacts
