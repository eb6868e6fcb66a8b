import { Type } from 'typebox'
import type { Routes } from '../../../src/http/api.ts'

const text = Type.String()
const maybe = Type.Optional(text)
const closed = { additionalProperties: false }

/** The operation that shows a skill before it is installed. */
export const contentRoutes: Routes = (api, app) => {
  api.operation({
    id: 'getSkillContent',
    method: 'GET',
    path: '/api/v1beta/skills/content',
    area: 'skills',
    summary: 'The text of a skill and the list of its files; nothing is installed',
    query: { ref: { type: 'string', says: 'A name, an OCI or git reference, or the tag of a local build' } },
    answer: [
      200,
      Type.Object(
        {
          name: text,
          description: text,
          version: maybe,
          license: maybe,
          body: text,
          files: Type.Array(Type.Object({ path: text, size: Type.Integer() }, closed)),
        },
        closed,
      ),
    ],
    failures: [400, 401, 404, 409, 422, 429, 501, 502, 503, 504],
    slow: true,
    handle: async ({ query: { ref = '' }, signal }) =>
      (await app.service('skillSources')).preview(ref, { signal }),
  })
}
