import { isAbsolute } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { sectionRequest } from '../../src/http/section-request.ts'
import { isEmpty } from '../../src/lib/is-empty.ts'
import { described, either, nullable, type ObjectOf, optional, text } from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'
import { assertUsable } from './assert-usable.ts'
import { authzConfig } from './authz-config.ts'
import { failures } from './failures.ts'

const members = {
  authz_config: optional(nullable(authzConfig)),
  /** A file with the same; it is read when the workload starts, and whenever it changes. */
  authz_config_path: optional(nullable(text)),
}

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

export const MEMBER = 'authz_config'

/** Whether the run config asks for authorization. */
export const asksForAuthz = ({ authz_config, authz_config_path }: RunConfig): boolean =>
  !isEmpty(authz_config) || !isEmpty(authz_config_path)

const asked = optional(
  nullable(
    described(
      either(text, authzConfig),
      'The absolute path of a file, or what such a file says; empty: no authorization',
    ),
  ),
)

/** Takes away what is kept and not said again. */
const inPlaceOf = (kept: Partial<RunConfig>, said: Partial<RunConfig>): Partial<RunConfig> => ({
  ...(isEmpty(kept.authz_config) ? {} : { authz_config: null }),
  ...(isEmpty(kept.authz_config_path) ? {} : { authz_config_path: null }),
  ...said,
})

/** What callers may do. A body that does not mention it keeps it as it is. */
const request = sectionRequest({
  body: { authz_config: asked },
  details: { authz_config: asked },
  toOptions: () => ({}),
  toMembers({ authz_config: said }, kept): Partial<RunConfig> {
    if (said === undefined || said === null) return {}
    if (isEmpty(said)) return inPlaceOf(kept, {})
    if (typeof said === 'string') return inPlaceOf(kept, { authz_config_path: said })
    const { pdp } = said
    if (pdp && !isDeepStrictEqual(pdp, kept.authz_config?.pdp)) {
      throw failures.authz_pdp_over_http({ url: pdp.http.url })
    }
    return inPlaceOf(kept, { authz_config: said })
  },
  toDetails: ({ authz_config, authz_config_path }) => ({
    authz_config: authz_config_path || (authz_config && !isEmpty(authz_config) ? authz_config : ''),
  }),
  keptAlways: ['authz_config', 'authz_config_path'],
})

/** What callers may do. */
export const authzSection: Section = {
  members,
  request,
  middlewareEntries: [
    {
      type: 'authorization',
      parameter: 'config_data',
      member: 'authz_config',
      repeats: { config_path: 'authz_config_path' },
    },
  ],
  check({ authz_config: said, authz_config_path: path }) {
    if (path && !isAbsolute(path)) {
      throw failures.authz_config_invalid({
        where: 'authz_config_path',
        problem: `"${path}" is not an absolute path`,
      })
    }
    if (said && !isEmpty(said)) assertUsable(said, MEMBER)
  },
}
