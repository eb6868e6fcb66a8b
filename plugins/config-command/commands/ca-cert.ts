import { resolve } from 'node:path'
import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { messageOf } from '../../../src/errors.ts'

export class SetCaCert extends BaseCommand {
  static override paths = [['config', 'set-ca-cert']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description: 'trust a CA certificate while images are built',
  })
  static override synopsis = 'PATH'

  certificate = Option.String()

  override async execute(): Promise<void> {
    const path = resolve(this.certificate)
    const { assertCertificates } = await import('../ca-certificate.ts')
    await assertCertificates(path)
    const settings = await this.app.service('settings')
    await settings.change(() => ({ ca_certificate_path: path }))
  }
}

export class GetCaCert extends BaseCommand {
  static override paths = [['config', 'get-ca-cert']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description: 'show the CA certificate that builds trust',
  })

  override async execute(): Promise<void> {
    const settings = await this.app.service('settings')
    const path = await settings.get('ca_certificate_path')
    if (!path) return this.print('No CA certificate is set.')
    this.print(`CA certificate: ${path}`)
    const { assertCertificates } = await import('../ca-certificate.ts')
    await assertCertificates(path).catch(error => this.print(`Warning: ${messageOf(error)}`))
  }
}

export class UnsetCaCert extends BaseCommand {
  static override paths = [['config', 'unset-ca-cert']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description: 'trust no further CA certificate while images are built',
  })

  override async execute(): Promise<void> {
    const settings = await this.app.service('settings')
    if ((await settings.get('ca_certificate_path')) === undefined)
      return this.print('No CA certificate is set.')
    await settings.change(() => ({ ca_certificate_path: undefined }))
  }
}
