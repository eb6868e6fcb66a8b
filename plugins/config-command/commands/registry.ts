import { existsSync } from 'node:fs'
import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { type FlagValues, flag } from '../../../src/cli/flags.ts'
import { failures } from '../../../src/errors.ts'
import { loginFlags, readLoginFlags } from '../../registry/index.ts'

const flags = {
  'allow-private-ip': flag.boolean('allow plain http and addresses of private networks', false, {
    short: 'p',
  }),
  ...loginFlags,
} as const

const DEFAULT_SCOPES = ['openid', 'offline_access']

export class SetRegistry extends BaseCommand {
  static override paths = [['config', 'set-registry']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description: 'use another registry: a file, the URL of a file, or an MCP registry API',
    details:
      'The registry is read before anything is stored; what was set before, a login among it, stays until ' +
      'the new one is known to work. Whoever publishes in a registry chooses what runs under its names. ' +
      'Some registries take entries from anybody: read an entry with `registry info` before you run it.',
    examples: [
      ['Use the registry of a company', '$0 config set-registry https://registry.example.com'],
      ['Use a file', '$0 config set-registry ./registry.json'],
    ],
  })
  static override synopsis = 'URL|PATH'
  static override flags = flags

  source = Option.String()

  override async execute(): Promise<void> {
    const values = this.values(flags)
    const { 'allow-private-ip': allowPrivate } = values
    const auth = readAuth(values)
    const registry = await this.app.service('registry')
    await registry.setSource({
      source: this.source,
      allowPrivate,
      cwd: process.cwd(),
      auth,
    })
    if (allowPrivate)
      this.print('Caution: this registry may be reached over plain http and in private networks.')
  }
}

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

export class SetRegistryAuth extends BaseCommand {
  static override paths = [['config', 'set-registry-auth']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description:
      'set where to log in to the registry API that is set (deprecated: `config set-registry` and `registry login` do)',
  })
  static override flags = loginFlags

  override async execute(): Promise<void> {
    const auth = readAuth(this.values(loginFlags))
    if (!auth) throw failures.usage({ text: 'Give --issuer and --client-id.' })
    const registry = await this.app.service('registry')
    await registry.setAuth(auth)
  }
}

export class UnsetRegistryAuth extends BaseCommand {
  static override paths = [['config', 'unset-registry-auth']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description:
      'forget where to log in to the registry, and the login (deprecated: `registry logout` and `config unset-registry` do)',
  })

  override async execute(): Promise<void> {
    const registry = await this.app.service('registry')
    await registry.setAuth(undefined)
  }
}

const KINDS = { api: 'API endpoint', url: 'remote file', file: 'local file' } as const

export class GetRegistry extends BaseCommand {
  static override paths = [['config', 'get-registry']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description: 'show which registry is used',
  })

  override async execute(): Promise<void> {
    const registry = await this.app.service('registry')
    const { kind, place } = await registry.source()
    if (kind === 'default') return this.print('Registry: built-in catalogue')
    this.print(`Registry: ${place} (${KINDS[kind]})`)
    if (kind === 'file' && !existsSync(place)) this.print('Warning: the file does not exist any more.')
  }
}

export class UnsetRegistry extends BaseCommand {
  static override paths = [['config', 'unset-registry']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description: 'use the built-in catalogue again',
  })

  override async execute(): Promise<void> {
    const registry = await this.app.service('registry')
    await registry.unsetSource()
  }
}
