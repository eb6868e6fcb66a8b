import { type FlagValues, flag } from '../../src/cli/flags.ts'
import type { RunFlags } from '../../src/plugin.ts'
import { assertIssuer } from './assert-issuer.ts'

const format = flag.choice('output format', ['text', 'json'], 'text')

export const searchFlags = { format } as const

export const listFlags = {
  format,
  refresh: flag.boolean('ask the registry API even if its last response is less than an hour old'),
} as const

/** The flag, for other commands that resolve registry servers. */
export const permissionTable = {
  'accept-permissions': flag.boolean(
    'grant a registry server the file access that its entry asks for, without asking',
  ),
} as const

/** The flag of `run` for permissions of registry entries. */
export const permissionFlags: RunFlags = {
  title: 'Registry servers',
  of: ['run'],
  flags: permissionTable,
}

/** Where the users of a registry log in; for commands that set a registry or log in to it. */
export const loginFlags = {
  issuer: flag.string('OpenID or OAuth issuer that the registry trusts', { placeholder: 'URL' }),
  'client-id': flag.string('OAuth client to log in as', { placeholder: 'ID' }),
  audience: flag.string('audience of the tokens'),
  scopes: flag.commaList('scopes to ask for [openid,offline_access]', 'SCOPE'),
} as const

/** What the flags say, as the settings have it. Fails with `usage`. */
export function readLoginFlags(values: FlagValues<typeof loginFlags>): {
  issuer?: string
  client_id?: string
  audience?: string
  scopes?: string[]
} {
  const { issuer, 'client-id': clientId, audience, scopes } = values
  if (issuer !== undefined) assertIssuer(issuer, '--issuer')
  return {
    ...(issuer === undefined ? {} : { issuer }),
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(audience === undefined ? {} : { audience }),
    ...(scopes.length ? { scopes: [...scopes] } : {}),
  }
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions {
    /** True, or the hash of the mounts that were shown. */
    readonly 'accept-permissions'?: boolean | string | undefined
  }
}
