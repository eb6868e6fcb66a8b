import type { Routes } from '../../src/http/api.ts'
import { closed, described, filled, integer, list, object, optional, text } from '../../src/lib/schema.ts'

const tag = 'skills'
const path = '/api/v1beta/skills/content'
const content = object(
  {
    name: text,
    description: text,
    version: optional(text),
    license: optional(text),
    body: text,
    files: list(object({ path: text, size: integer }, closed)),
  },
  closed,
)
const failures = [400, 401, 404, 409, 422, 429, 501, 502, 503, 504]

/** The operations that show a skill before it is installed. */
export const contentRoutes: Routes = (api, app) => {
  const preview = async (ref: string, signal: AbortSignal) =>
    (await app.service('skillSources')).preview(ref, { signal })

  api.operation({
    id: 'fetchSkillContent',
    method: 'POST',
    path,
    tag,
    summary: 'The text of a skill and the list of its files; nothing is installed',
    body: object({ ref: filled }),
    response: [200, content],
    failures,
    slow: true,
    handle: ({ body: { ref }, signal }) => preview(ref, signal),
  })

  api.operation({
    id: 'getSkillContent',
    method: 'GET',
    path,
    tag,
    summary: 'The same, for programs that send the header',
    query: {
      ref: described(filled, 'A name, an OCI or git reference, or the tag of a local build'),
    },
    programsOnly: true,
    response: [200, content],
    failures,
    slow: true,
    handle: ({ query: { ref = '' }, signal }) => preview(ref, signal),
  })
}
