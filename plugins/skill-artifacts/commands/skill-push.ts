import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const flags = {
  key: flag.file('sign with this private key of cosign; its password is in COSIGN_PASSWORD'),
  'identity-token': flag.string('sign with the identity that this token names, or the token in this file', {
    placeholder: 'TOKEN|FILE',
  }),
  'no-sign': flag.boolean('do not sign'),
}

export class SkillPush extends BaseCommand {
  static override paths = [['skill', 'push']]
  static override usage = BaseCommand.Usage({
    category: 'Skills',
    description: 'upload a build to the registry that its tag names',
    details:
      'Choose how to sign it: with a key, with an identity (Sigstore; the name becomes public), or not at all. In ' +
      'GitHub Actions with `id-token: write` the identity is that of the workflow. A token in a file stays out of ' +
      'the list of processes. The key or token is tested before anything is sent.',
    examples: [
      ['Push without a signature', '$0 skill push ghcr.io/me/my-skill:1.0 --no-sign'],
      ['Push, signed with a key', '$0 skill push ghcr.io/me/my-skill:1.0 --key cosign.key'],
    ],
  })
  static override synopsis = 'REFERENCE'
  static override flags = flags

  reference = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { key, 'identity-token': given, 'no-sign': noSign } = this.values(flags)
    const builds = await this.app.service('skillBuilds')
    const { findIdentityToken } = await import('../sign/identity-token.ts')
    const identityToken = await findIdentityToken(given, {
      env: this.app.env,
      ask: !key && !noSign,
      signal: this.context.signal,
    })
    const progress = this.progress()
    try {
      await builds.push(
        this.reference,
        { key, identityToken, noSign },
        { signal: this.context.signal, progress: progress.report },
      )
    } finally {
      progress.done()
    }
  }
}
