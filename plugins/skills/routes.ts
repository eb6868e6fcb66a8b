import { Type } from 'typebox'
import type { Routes } from '../../src/http/api.ts'
import type { SkillDetails } from './install/installer.ts'
import { withoutEmpty } from './update/without-empty.ts'

const tag = 'skills'
const path = '/api/v1beta/skills'
const closed = { additionalProperties: false }
const text = Type.String()
const maybe = Type.Optional(text)
const texts = Type.Array(text)
const maybeTexts = Type.Optional(texts)
const flag = Type.Optional(Type.Boolean())

/** Strings that are wrong are told by the service, in its words. */
const place = { scope: maybe, project_root: maybe }
const placeQuery = {
  scope: { type: 'string', description: '`user` or `project`' },
  project_root: { type: 'string', description: 'The absolute path of the project' },
} as const

const metadata = Type.Object(
  { name: text, version: text, description: text, author: text, tags: maybeTexts },
  closed,
)
const installedSkill = Type.Object(
  {
    metadata,
    scope: text,
    project_root: maybe,
    reference: maybe,
    tag: maybe,
    digest: maybe,
    status: text,
    installed_at: text,
    clients: maybeTexts,
    dependencies: Type.Optional(
      Type.Array(Type.Object({ name: text, reference: text, digest: text }, closed)),
    ),
    managed: Type.Boolean(),
  },
  closed,
)
const trust = {
  provenance: Type.Optional(
    Type.Object({
      signerIdentity: text,
      certIssuer: text,
      repositoryUri: maybe,
      repositoryRef: maybe,
      runnerEnvironment: maybe,
      sigstoreUrl: maybe,
      provisional: flag,
    }),
  ),
  unsigned: flag,
}
const failure = { name: text, reason: text, error: text }
const syncAnswer = Type.Object(
  {
    installed: maybeTexts,
    drifted: maybeTexts,
    missing: maybeTexts,
    already_current: maybeTexts,
    never_managed: maybeTexts,
    removed_from_lock: maybeTexts,
    pruned: maybeTexts,
    failed: Type.Optional(Type.Array(Type.Object(failure, closed))),
  },
  closed,
)
const fromTo = Type.Object({ before: text, after: text }, closed)
const outcome = Type.Object(
  {
    name: text,
    status: text,
    old_digest: maybe,
    new_digest: maybe,
    new_resolved_reference: maybe,
    new_signer_identity: maybe,
    reason: maybe,
    error: maybe,
    changes: Type.Optional(
      Type.Object(
        {
          version: Type.Optional(fromTo),
          files: Type.Optional(Type.Object({ added: texts, removed: texts, changed: texts }, closed)),
          tools_added: maybeTexts,
          signer: Type.Optional(fromTo),
        },
        closed,
      ),
    ),
  },
  closed,
)

/** The operations on installed skills. */
export const skillRoutes: Routes = (api, app) => {
  const skills = () => app.service('skills')

  api.operation({
    id: 'listSkills',
    method: 'GET',
    path,
    tag,
    summary: 'Installed skills by name; filters are combined',
    query: {
      ...placeQuery,
      client: { type: 'string', description: 'Only those of this client' },
      group: { type: 'string', description: 'Only those of this group' },
    },
    response: [200, Type.Object({ skills: Type.Array(installedSkill) }, closed)],
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
    body: Type.Object({
      ...{ name: maybe, version: maybe, ...place, clients: maybeTexts },
      ...{ force: flag, group: maybe, allow_unsigned: flag },
    }),
    response: [201, Type.Object({ skill: installedSkill, ...trust }, closed)],
    failures: [400, 401, 403, 404, 409, 422, 429, 501, 502, 503, 504],
    slow: true,
    location: ({ skill }: SkillDetails) => `${path}/${skill.metadata.name}`,
    handle: async ({ body, signal }) =>
      (await skills()).install({
        ...{ reference: body.name ?? '', version: body.version || undefined, clients: body.clients, signal },
        ...{ scope: body.scope, projectRoot: body.project_root, force: body.force },
        ...{ group: body.group, allowUnsigned: body.allow_unsigned },
      }),
  })

  api.operation({
    id: 'fetchSkill',
    method: 'GET',
    path: `${path}/{name}`,
    tag,
    summary: 'An installed skill, and who signed it',
    query: placeQuery,
    response: [200, Type.Object({ metadata, installed_skill: installedSkill, ...trust }, closed)],
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
        ...{ scope, projectRoot: project_root, force: force === 'true' },
      })
    },
  })

  api.operation({
    id: 'syncSkills',
    method: 'POST',
    path: `${path}/sync`,
    tag,
    summary: 'Make the folders of a project what its lock file says',
    body: Type.Object({
      ...{ project_root: maybe, clients: maybeTexts, prune: flag, check: flag, adopt: flag },
      ...{ allow_unsigned: flag, frozen: flag, force: flag },
    }),
    response: [200, syncAnswer],
    failures: [400, 404, 409, 503],
    slow: true,
    handle: async ({ body: { project_root = '', allow_unsigned, ...body }, signal }) =>
      withoutEmpty(
        await (await skills()).sync({
          ...body,
          ...{ projectRoot: project_root, allowUnsigned: allow_unsigned, signal },
        }),
      ),
  })

  api.operation({
    id: 'upgradeSkills',
    method: 'POST',
    path: `${path}/upgrade`,
    tag,
    summary: 'Replace skills by what their sources hold now, or say what would change',
    body: Type.Object({
      ...{ ...place, names: maybeTexts, preview: flag, fail_on_changes: flag },
      ...{ allow_ref_change: flag, allow_signer_change: flag, allow_unsigned: flag },
      ...{ clients: maybeTexts, force: flag },
    }),
    response: [200, Type.Object({ outcomes: Type.Array(outcome) }, closed)],
    failures: [400, 404, 409, 503],
    slow: true,
    async handle({ body, signal }) {
      const outcomes = await (await skills()).upgrade({
        ...{ scope: body.scope || 'project', projectRoot: body.project_root, names: body.names },
        ...{ preview: body.preview === true || body.fail_on_changes === true, clients: body.clients },
        ...{ allowRefChange: body.allow_ref_change, allowSignerChange: body.allow_signer_change },
        ...{ allowUnsigned: body.allow_unsigned, force: body.force, signal },
      })
      return { outcomes }
    },
  })
}
