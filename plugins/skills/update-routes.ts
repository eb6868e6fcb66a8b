import { Type } from 'typebox'
import type { Routes } from '../../src/http/api.ts'
import { withoutEmpty } from './update/without-empty.ts'

const tag = 'skills'
const path = '/api/v1beta/skills'
const closed = { additionalProperties: false }
const text = Type.String()
const maybe = Type.Optional(text)
const texts = Type.Array(text)
const maybeTexts = Type.Optional(texts)
const flag = Type.Optional(Type.Boolean())

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

/** The operations that bring installed skills in step with a lock file or with their sources. */
export const updateRoutes: Routes = (api, app) => {
  const skills = () => app.service('skills')

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
      ...{ scope: maybe, project_root: maybe, names: maybeTexts, preview: flag, fail_on_changes: flag },
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
