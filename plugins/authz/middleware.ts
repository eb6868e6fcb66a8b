import type { MiddlewareFactory } from '../../src/contracts/pipeline.ts'
import { hasCallers } from '../../src/has-callers.ts'
import { asksForAuthz } from './section.ts'

/** Clients read their lists again when the policies have changed. */
const LISTS_CHANGED = ['tools', 'prompts', 'resources'].map(
  list => `{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}`,
)

/** Lets callers use what policies allow, where the run config says so. */
export const authzMiddleware = (): MiddlewareFactory => async (config, _listener, context) => {
  if (!asksForAuthz(config)) return undefined
  const [{ createAuthorize }, { followPolicies }] = await Promise.all([
    import('./authorize.ts'),
    import('./follow-policies.ts'),
  ])
  const policies = await followPolicies(config, {
    log: context.log,
    onChanged() {
      for (const notification of LISTS_CHANGED) context.resultsChanged(notification)
    },
  })
  return createAuthorize({
    decider: policies.current,
    hasLogin: hasCallers(config),
    summary: `policies of ${config.authz_config_path || 'the run config'}`,
    context,
    close: policies.close,
  })
}
