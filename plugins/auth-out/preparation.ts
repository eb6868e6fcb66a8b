import type { App } from '../../src/app.ts'
import type { Preparation } from '../../src/contracts/preparation.ts'
import { assertSecretsThere } from './credentials/assert-secrets-there.ts'
import { conceal } from './credentials/conceal.ts'
import { readVariables } from './credentials/read-variables.ts'
import { resolveHeaders } from './credentials/resolve-headers.ts'
import { logInForRun } from './logins/log-in-for-run.ts'

/** Completes what a run config says of the remote server, and takes plain secrets out of it. */
export const credentialsPreparation = (app: App): Preparation => ({
  async complete(config, context) {
    if (!config.remote_url) return config
    // Both fail now where a secret is missing.
    const headers = await resolveHeaders(app, config)
    await assertSecretsThere(app, config)
    if (!context.typed) return config
    const completed = readVariables(config, app.env, context.options)
    const { bearer_token, bearer_token_file } = completed.remote_auth_config ?? {}
    if (bearer_token || bearer_token_file) return completed
    return logInForRun(app, completed, { ...context, hasHeaders: headers.length > 0 })
  },
  conceal: async config => (config.remote_url ? conceal(app, config) : config),
})
