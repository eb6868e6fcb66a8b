import type { App } from '../../../src/app.ts'
import type { AccessProblem } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Log } from '../../../src/log.ts'
import type { Authorization } from './authorization.ts'
import { parseToken } from './parse-token.ts'
import { openTokenFile } from './token-file.ts'
import { createWorkloadSecrets } from './workload-secrets.ts'

const REFUSED: AccessProblem = {
  status: 'unauthenticated',
  reason: 'The remote server does not accept the bearer token.',
}

/** The bearer token that the user has given; undefined where there is none. */
export async function bearerTokenOf(
  app: App,
  config: RunConfig,
  log: Log,
): Promise<Authorization | undefined> {
  const { bearer_token: given, bearer_token_file: path } = config.remote_auth_config ?? {}
  if (path) {
    const file = await openTokenFile(path, { log })
    return {
      ...fixed,
      value: () => ({ header: `Bearer ${file.current()}` }),
      refused: ({ status }) =>
        status === 401 ? file.look().then(isOther => (isOther ? undefined : REFUSED)) : undefined,
    }
  }
  if (!given) return undefined
  const token = parseToken(await createWorkloadSecrets(app).valueOf(given, config), 'The bearer token')
  const value = { header: `Bearer ${token}` }
  return {
    ...fixed,
    value: () => value,
    refused: ({ status }) => (status === 401 ? Promise.resolve(REFUSED) : undefined),
  }
}

const fixed = { taken: () => undefined, close: () => undefined }
