import type { App } from '../../src/app.ts'
import { parseRunConfig, type RunConfig } from '../../src/contracts/run-config.ts'
import { failures as core } from '../../src/errors.ts'
import { takeOverEntries } from '../../src/middleware-entries.ts'
import { checkSections } from '../../src/sections.ts'
import { readUserFile } from '../../src/user-file.ts'
import type { RunRequest } from './build-config.ts'
import { failures } from './failures.ts'

/** The flags of the second list confirm what the file says. */
const COMPANIONS = new Set([
  ...['from-config', 'foreground', 'runtime', 'ca-cert', 'debug', 'no-sandbox'],
  ...[
    'remote-auth-bearer-token-file',
    'remote-auth-client-secret-file',
    'remote-auth-private-key-file',
    'remote-auth-resource',
    'oidc-client-secret-file',
    'jwks-auth-token-file',
    'token-exchange-url',
    'token-exchange-audience',
    'token-exchange-client-secret-file',
    'token-exchange-actor-token-file',
    'auth-server-credential',
    'auth-server-allow-private-ip',
    'jwks-allow-private-ip',
    'rate-limit-redis',
    'audit-config',
    'otel-endpoint',
    'otel-env-vars',
    'otel-insecure',
    'otel-ca-cert',
    'otel-enable-prometheus-metrics-path',
    'authz-config',
    'webhook-config',
  ],
])

/** Reads and checks the file of `--from-config`. Of the flags only `--no-sandbox` is merged into it. */
export async function configFromFile(
  app: App,
  path: string,
  { given, argument, serverArgs }: Pick<RunRequest, 'given' | 'argument' | 'serverArgs'>,
): Promise<RunConfig> {
  const others = [
    ...[...given].filter(name => !COMPANIONS.has(name)).map(name => `--${name}`),
    ...(argument ? [`the target ${argument}`] : []),
    ...(serverArgs.length ? ['arguments behind --'] : []),
  ]
  if (others.length) throw failures.from_config_alone({ others })
  const text = await readUserFile(path, 'The --from-config file')
  const config = await takeOverEntries(app, parseRunConfig(text, path))
  await checkSections(app, config)
  // The file may come from somebody else, so the user has to confirm.
  if (config.no_sandbox && !given.has('no-sandbox')) throw failures.no_sandbox_unconfirmed({ path })
  if (config.secrets?.length) {
    const given = config.secrets.map(reference => reference.replace(',target=', ' as ')).join(', ')
    app.log.info(`"${config.name}" gets the secrets that its file names: ${given}.`)
  }
  if (!given.has('no-sandbox')) return config
  if (config.remote_url)
    throw core.usage({ text: `--no-sandbox does not go with ${path}: that server is remote.` })
  return { ...config, no_sandbox: true }
}
