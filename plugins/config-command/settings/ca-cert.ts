import { resolve } from 'node:path'
import { messageOf } from '../../../src/errors.ts'
import type {} from '../../settings/index.ts'
import type { Setting } from '../setting.ts'

export const caCert: Setting = {
  name: 'ca-cert',
  set: {
    description: 'trust a CA certificate in builds',
    synopsis: 'PATH',
    async run({ app, args: [certificate = ''] }) {
      const path = resolve(certificate)
      const { assertCertificates } = await import('../ca-certificate.ts')
      await assertCertificates(path)
      await (await app.service('settings')).change(() => ({ ca_certificate_path: path }))
    },
  },
  get: {
    description: 'show the CA certificate that builds trust',
    async run({ app, print }) {
      const path = await (await app.service('settings')).get('ca_certificate_path')
      if (!path) return print('No CA certificate is set.')
      print(`CA certificate: ${path}`)
      const { assertCertificates } = await import('../ca-certificate.ts')
      await assertCertificates(path).catch(error => print(`Warning: ${messageOf(error)}`))
    },
  },
  unset: {
    description: 'stop trusting the CA certificate in builds',
    async run({ app, print }) {
      const settings = await app.service('settings')
      if ((await settings.get('ca_certificate_path')) === undefined) return print('No CA certificate is set.')
      await settings.change(() => ({ ca_certificate_path: undefined }))
    },
  },
}
