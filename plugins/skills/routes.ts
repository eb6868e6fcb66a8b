import { groupName } from '../../src/contracts/group-name.ts'
import type { Routes } from '../../src/http/api.ts'
import { bool, closed, described, list, object, optional, text, texts } from '../../src/lib/schema.ts'
import { orEmpty } from '../../src/lib/text-schema.ts'
import { skillName } from '../skill-artifacts/index.ts'
import { skillSigner } from '../skill-sources/index.ts'
import type { SkillDetails } from './install/installer.ts'
import { scopeWord } from './install/place.ts'
import { installedSkill, skillMetadata } from './install/record.ts'

const tag = 'skills'
const path = '/api/v1beta/skills'

/** Plain strings: the service checks the values, so that its failures explain them. */
const place = { scope: optional(scopeWord), project_root: optional(text) }
const placeQuery = {
  scope: described(scopeWord, '`user` or `project`'),
  project_root: { type: 'string', description: 'The absolute path of the project' },
} as const

const trust = {
  provenance: optional(skillSigner),
  unsigned: optional(bool),
}

/** The operations on installed skills. */
export const skillRoutes: Routes = (api, app) => {
  const skills = () => app.service('skills')

  /** Whether the owner of the server lets programs install unsigned skills that are for the user. */
  const isUnsignedAllowed = async ({
    scope,
    project_root: root,
  }: {
    scope?: string
    project_root?: string
  }) =>
    scope !== 'project' &&
    !root &&
    (await (await app.service('settings')).get('unsigned_skills')) === 'allowed'

  api.operation({
    id: 'listSkills',
    method: 'GET',
    path,
    tag,
    summary: 'Installed skills by name; filters are combined',
    query: {
      ...placeQuery,
      client: { type: 'string', description: 'Only those of this client' },
      group: described(orEmpty(groupName), 'Only those of this group'),
    },
    response: [200, object({ skills: list(installedSkill) }, closed)],
    failures: [400, 404],
    handle: async ({ query: { scope, project_root, client, group } }) => ({
      skills: await (await skills()).list({ scope, projectRoot: project_root, client, group }),
    }),
  })

  api.operation({
    id: 'installSkill',
    method: 'POST',
    path,
    tag,
    summary: 'Install a skill and what it needs, for all clients or none',
    body: object({
      name: optional(text),
      version: optional(text),
      ...place,
      clients: optional(texts),
      force: optional(bool),
      group: optional(orEmpty(groupName)),
      allow_unsigned: optional(bool),
    }),
    response: [201, object({ skill: installedSkill, ...trust }, closed)],
    failures: [400, 401, 403, 404, 409, 422, 429, 501, 502, 503, 504],
    slow: true,
    location: ({ skill }: SkillDetails) => `${path}/${skill.metadata.name}`,
    handle: async ({ body, signal }) =>
      (await skills()).install({
        reference: body.name ?? '',
        version: body.version || undefined,
        clients: body.clients,
        signal,
        scope: body.scope,
        projectRoot: body.project_root,
        force: body.force,
        group: body.group,
        allowUnsigned: body.allow_unsigned ?? (await isUnsignedAllowed(body)),
      }),
  })

  api.operation({
    id: 'fetchSkill',
    method: 'GET',
    path: `${path}/{name}`,
    params: { name: skillName },
    tag,
    summary: 'An installed skill, and who signed it',
    query: placeQuery,
    response: [200, object({ metadata: skillMetadata, installed_skill: installedSkill, ...trust }, closed)],
    failures: [400, 404],
    async handle({ params: { name }, query: { scope, project_root } }) {
      const { skill, ...whose } = await (await skills()).get(name, { scope, projectRoot: project_root })
      return { metadata: skill.metadata, installed_skill: skill, ...whose }
    },
  })

  api.operation({
    id: 'uninstallSkill',
    method: 'DELETE',
    path: `${path}/{name}`,
    params: { name: skillName },
    tag,
    summary: 'Remove a skill from all clients, with what only it has needed',
    query: {
      ...placeQuery,
      force: { type: 'boolean', description: 'Also when it was edited, or when other skills need it' },
    },
    response: [204, 'empty'],
    failures: [400, 404, 409, 503],
    async handle({ params: { name }, query: { scope, project_root, force } }) {
      await (await skills()).uninstall(name, {
        scope,
        projectRoot: project_root,
        force: force === 'true',
      })
    },
  })
}
