import { existsSync } from 'node:fs'
import { type FlagValues, flag } from '../../../src/cli/flags.ts'
import { failures } from '../../../src/errors.ts'
import { loginFlags, readLoginFlags } from '../../registry/index.ts'
import { action, type Setting } from '../setting.ts'

const DEFAULT_SCOPES = ['openid', 'offline_access']
const KINDS = { api: 'API endpoint', url: 'remote file', file: 'local file' } as const

/** What the flags say of a login; undefined: nothing. Fails with `usage` when it is not enough. */
function readAuth(values: FlagValues<typeof loginFlags>) {
  const { issuer, client_id, audience, scopes = DEFAULT_SCOPES } = readLoginFlags(values)
  if ((issuer === undefined) !== (client_id === undefined)) {
    throw failures.usage({
      text: '--issuer and --client-id go together.',
      hint: '`keelson registry login` finds out what is missing where the registry says it.',
    })
  }
  if (issuer === undefined || client_id === undefined) {
    if (audience === undefined && values.scopes.length === 0) return undefined
    throw failures.usage({ text: '--audience and --scopes need --issuer and --client-id.' })
  }
  return { issuer, client_id, scopes, ...(audience === undefined ? {} : { audience }) }
}

export const registrySource: Setting = {
  name: 'registry',
  set: action({
    description: 'use another registry: a file, the URL of a file, or an MCP registry API',
    details:
      'The new registry is read before anything is stored. The previous one and its login stay until the new one ' +
      'is known to work. Whoever publishes in a registry chooses what runs under its names. ' +
      'Some registries take entries from anybody: read an entry with `registry info` before you run it.',
    examples: [
      ['Use the registry of a company', '$0 config set-registry https://registry.example.com'],
      ['Use a file', '$0 config set-registry ./registry.json'],
    ],
    synopsis: 'URL|PATH',
    flags: {
      'allow-private-ip': flag.boolean('allow plain http and addresses of private networks', {
        short: 'p',
      }),
      ...loginFlags,
    },
    async run({ app, args: [source = ''], values, print }) {
      const { 'allow-private-ip': allowPrivate } = values
      const auth = readAuth(values)
      const registry = await app.service('registry')
      await registry.setSource({ source, allowPrivate, cwd: process.cwd(), auth })
      if (allowPrivate)
        print('Caution: this registry may be reached over plain http and in private networks.')
    },
  }),
  get: {
    description: 'show which registry is used',
    async run({ app, print }) {
      const registry = await app.service('registry')
      const { kind, place } = await registry.source()
      if (kind === 'default') return print('Registry: built-in catalogue')
      print(`Registry: ${place} (${KINDS[kind]})`)
      if (kind === 'file' && !existsSync(place)) print('Warning: the file does not exist any more.')
    },
  },
  unset: {
    description: 'use the built-in catalogue again',
    run: async ({ app }) => (await app.service('registry')).unsetSource(),
  },
}

export const registryAuth: Setting = {
  name: 'registry-auth',
  set: action({
    description:
      'set where to log in to the registry API that is set (deprecated: use `config set-registry` and `registry login`)',
    flags: loginFlags,
    async run({ app, values }) {
      const auth = readAuth(values)
      if (!auth) throw failures.usage({ text: 'Give --issuer and --client-id.' })
      await (await app.service('registry')).setAuth(auth)
    },
  }),
  unset: {
    description:
      'forget the login to the registry, and where to log in (deprecated: use `registry logout` and `config unset-registry`)',
    run: async ({ app }) => (await app.service('registry')).setAuth(undefined),
  },
}
