import { existsSync } from 'node:fs'
import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { failures } from '../../../src/errors.ts'

const flags = {
  'allow-private-ip': flag.boolean('allow plain http and addresses of private networks', false, {
    short: 'p',
  }),
  issuer: flag.string('OpenID issuer that the registry trusts (with --client-id)', { placeholder: 'URL' }),
  'client-id': flag.string('OAuth client to log in as (with --issuer)', { placeholder: 'ID' }),
  audience: flag.string('audience of the tokens'),
  scopes: flag.commaList('scopes to ask for [openid,offline_access]', 'SCOPE'),
} as const

const DEFAULT_SCOPES = ['openid', 'offline_access']

export class SetRegistry extends BaseCommand {
  static override paths = [['config', 'set-registry']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description: 'use another registry: a file, the URL of a file, or an MCP registry API',
    details:
      'The registry is read before anything is stored; what was set before, a login among it, stays until ' +
      'the new one is known to work.',
    examples: [
      ['Use the official registry', '$0 config set-registry https://registry.modelcontextprotocol.io'],
      ['Use a file', '$0 config set-registry ./registry.json'],
    ],
  })
  static override synopsis = 'URL|PATH'
  static override flags = flags

  source = Option.String()

  override async execute(): Promise<void> {
    const values = this.values(flags)
    const { issuer, 'client-id': clientId, audience, 'allow-private-ip': allowPrivate } = values
    if ((issuer === undefined) !== (clientId === undefined)) {
      throw failures.usage({ text: '--issuer and --client-id go together.' })
    }
    if (issuer === undefined && (audience !== undefined || values.scopes.length)) {
      throw failures.usage({ text: '--audience and --scopes need --issuer and --client-id.' })
    }
    if (issuer !== undefined && !isIssuer(issuer)) {
      throw failures.usage({ text: `--issuer takes an https URL (http on localhost), not "${issuer}".` })
    }
    const scopes = values.scopes.length ? [...values.scopes] : DEFAULT_SCOPES
    const registry = await this.app.service('registry')
    await registry.setSource({
      source: this.source,
      allowPrivate,
      cwd: process.cwd(),
      auth:
        issuer === undefined || clientId === undefined
          ? undefined
          : { issuer, client_id: clientId, scopes, ...(audience === undefined ? {} : { audience }) },
    })
    if (allowPrivate)
      this.print('Caution: this registry may be reached over plain http and in private networks.')
  }
}

function isIssuer(text: string): boolean {
  const url = URL.parse(text)
  if (url?.protocol === 'https:') return true
  return url?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
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
