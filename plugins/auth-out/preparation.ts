import type { App } from '../../src/app.ts'
import type { Preparation, PreparationContext } from '../../src/contracts/preparation.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { assertSecretsThere } from './credentials/assert-secrets-there.ts'
import { conceal } from './credentials/conceal.ts'
import { confirmFiles, confirmResource } from './credentials/confirm-config.ts'
import { readVariables } from './credentials/read-variables.ts'
import { resolveHeaders } from './credentials/resolve-headers.ts'
import { reveal } from './credentials/reveal.ts'
import { logInForRun } from './logins/log-in-for-run.ts'
import { plainHttpWarning } from './plain-http-warning.ts'

/** Completes what a run config says of the remote server, and takes plain secrets out of it. */
export const credentialsPreparation = (app: App): Preparation => ({
  async complete(config, context) {
    if (!config.remote_url) return config
    const confirmed = confirmResource(confirmFiles(config, context.options), context.options)
    // Both fail now where a secret is missing.
    const headers = await resolveHeaders(app, confirmed)
    await assertSecretsThere(app, confirmed)
    const hasHeaders = headers.length > 0
    const completed = context.typed ? await authorize(app, confirmed, { ...context, hasHeaders }) : confirmed
    const warning = plainHttpWarning(completed)
    if (warning) app.log.warn(warning)
    return completed
  },
  conceal: async config => (config.remote_url ? conceal(app, config) : config),
  reveal: async config => (config.remote_url ? reveal(app, config) : config),
})

/** With the person who has typed the command. */
async function authorize(
  app: App,
  config: RunConfig,
  context: PreparationContext & { hasHeaders: boolean },
): Promise<RunConfig> {
  const { options } = context
  const completed = readVariables(config, app.env, { options, warn: app.log.warn })
  const { bearer_token, bearer_token_file } = completed.remote_auth_config ?? {}
  return bearer_token || bearer_token_file ? completed : logInForRun(app, completed, context)
}
