import type { Routes } from '../../src/http/api.ts'
import { bool, closed, list, object, optional, text, texts } from '../../src/lib/schema.ts'
import { scopeWord } from './install/place.ts'
import { withoutEmpty } from './update/without-empty.ts'

const tag = 'skills'
const path = '/api/v1beta/skills'

const failure = { name: text, reason: text, error: text }
const syncAnswer = object(
  {
    installed: optional(texts),
    drifted: optional(texts),
    missing: optional(texts),
    already_current: optional(texts),
    never_managed: optional(texts),
    removed_from_lock: optional(texts),
    pruned: optional(texts),
    failed: optional(list(object(failure, closed))),
  },
  closed,
)
const fromTo = object({ before: text, after: text }, closed)
const outcome = object(
  {
    name: text,
    status: text,
    old_digest: optional(text),
    new_digest: optional(text),
    new_resolved_reference: optional(text),
    new_signer_identity: optional(text),
    reason: optional(text),
    error: optional(text),
    changes: optional(
      object(
        {
          version: optional(fromTo),
          files: optional(object({ added: texts, removed: texts, changed: texts }, closed)),
          tools_added: optional(texts),
          signer: optional(fromTo),
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
    summary: 'Bring the skills of a project in line with its lock file',
    body: object({
      project_root: optional(text),
      clients: optional(texts),
      prune: optional(bool),
      check: optional(bool),
      adopt: optional(bool),
      allow_unsigned: optional(bool),
      frozen: optional(bool),
      force: optional(bool),
    }),
    response: [200, syncAnswer],
    failures: [400, 404, 409, 503],
    slow: true,
    handle: async ({ body: { project_root = '', allow_unsigned, ...body }, signal }) =>
      withoutEmpty(
        await (await skills()).sync({
          ...body,
          projectRoot: project_root,
          allowUnsigned: allow_unsigned,
          signal,
        }),
      ),
  })

  api.operation({
    id: 'upgradeSkills',
    method: 'POST',
    path: `${path}/upgrade`,
    tag,
    summary: 'Replace skills by what their sources hold now, or return what would change',
    body: object({
      scope: optional(scopeWord),
      project_root: optional(text),
      names: optional(texts),
      preview: optional(bool),
      fail_on_changes: optional(bool),
      allow_ref_change: optional(bool),
      allow_signer_change: optional(bool),
      allow_unsigned: optional(bool),
      clients: optional(texts),
      force: optional(bool),
    }),
    response: [200, object({ outcomes: list(outcome) }, closed)],
    failures: [400, 404, 409, 503],
    slow: true,
    async handle({ body, signal }) {
      const outcomes = await (await skills()).upgrade({
        scope: body.scope || 'project',
        projectRoot: body.project_root,
        names: body.names,
        preview: body.preview === true || body.fail_on_changes === true,
        clients: body.clients,
        allowRefChange: body.allow_ref_change,
        allowSignerChange: body.allow_signer_change,
        allowUnsigned: body.allow_unsigned,
        force: body.force,
        signal,
      })
      return { outcomes }
    },
  })
}
