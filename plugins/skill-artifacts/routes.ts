import { isAbsolute } from 'node:path'
import type { Routes } from '../../src/http/api.ts'
import { bool, closed, filled, list, object, optional, text, texts } from '../../src/lib/schema.ts'
import { failures } from './failures.ts'

const tag = 'skills'
const path = '/api/v1beta/skills'

const build = object(
  { tag: text, digest: text, name: optional(text), description: optional(text), version: optional(text) },
  closed,
)

/** The operations that make artifacts of skills. */
export const buildRoutes: Routes = (api, app) => {
  const builds = () => app.service('skillBuilds')

  api.operation({
    id: 'validateSkill',
    method: 'POST',
    path: `${path}/validate`,
    tag,
    summary: 'Check the skill in a folder; one that is not valid is a success too',
    body: object({ path: filled }),
    response: [
      200,
      object(
        {
          valid: bool,
          errors: optional(texts),
          warnings: optional(texts),
        },
        closed,
      ),
    ],
    handle: async ({ body }) => {
      const folder = checkedPath(body.path)
      const { validateSkill } = await import('./format/validate-skill.ts')
      const { valid, errors, warnings } = await validateSkill(folder)
      return { valid, ...(errors.length ? { errors } : {}), ...(warnings.length ? { warnings } : {}) }
    },
  })

  api.operation({
    id: 'buildSkill',
    method: 'POST',
    path: `${path}/build`,
    tag,
    summary: 'Pack the skill in a folder',
    body: object({ path: filled, tag: optional(text) }),
    response: [200, object({ reference: text }, closed)],
    failures: [503],
    slow: true,
    handle: async ({ body, signal }) => {
      const { reference } = await (await builds()).build(checkedPath(body.path), body.tag, { signal })
      return { reference }
    },
  })

  api.operation({
    id: 'listSkillBuilds',
    method: 'GET',
    path: `${path}/builds`,
    tag,
    summary: 'Builds on this machine, by tag',
    response: [200, object({ builds: list(build) }, closed)],
    handle: async () => ({ builds: await (await builds()).list() }),
  })

  api.operation({
    id: 'deleteSkillBuild',
    method: 'DELETE',
    path: `${path}/builds/{tag}`,
    tag,
    summary: 'Remove a build from this machine',
    response: [204, 'empty'],
    failures: [404, 503],
    handle: async ({ params: { tag } }) => (await builds()).remove(tag),
  })

  api.operation({
    id: 'pushSkill',
    method: 'POST',
    path: `${path}/push`,
    tag,
    summary: 'Upload a build to the registry that its tag names, signed in one way or not at all',
    body: object({
      reference: optional(text),
      key: optional(text),
      identity_token: optional(text),
      no_sign: optional(bool),
    }),
    response: [204, 'empty'],
    failures: [404, 502, 503],
    slow: true,
    handle: async ({ body: { reference = '', key, identity_token, no_sign }, signal }) => {
      await (await builds()).push(
        reference,
        { key, identityToken: identity_token, noSign: no_sign },
        { signal },
      )
    },
  })
}

/** Callers do not know the working folder of the server, so paths must be absolute. */
function checkedPath(given: string | undefined): string {
  const refuse = (problem: string) =>
    failures.skill_path_invalid({ path: (given ?? '').slice(0, 200), problem })
  if (!given) throw refuse('it is empty')
  if (given.includes('\0')) throw refuse('it has a NUL')
  if (!isAbsolute(given)) throw refuse('it is not absolute')
  if (given.split(/[\\/]/).includes('..')) throw refuse('it has the part ".."')
  return given
}
