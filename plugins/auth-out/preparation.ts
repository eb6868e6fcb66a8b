import type { App } from '../../src/app.ts'
import type { Preparation } from '../../src/contracts/preparation.ts'
import { conceal } from './credentials/conceal.ts'
import { readVariables } from './credentials/read-variables.ts'
import { resolveHeaders } from './credentials/resolve-headers.ts'

/** Completes what a run config says of the remote server, and takes plain secrets out of it. */
export const credentialsPreparation = (app: App): Preparation => ({
  async complete(config, { typed }) {
    if (!config.remote_url) return config
    await resolveHeaders(app, config) // fails now where a secret is missing
    return typed ? readVariables(config, app.env) : config
  },
  conceal: async config => (config.remote_url ? conceal(app, config) : config),
})
