import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { failures as core, isFailure } from '../../../src/errors.ts'
import { BUILD_AUTH_FILES, type BuildAuthFile, isBuildAuthFile } from '../../../src/lib/build-auth.ts'
import { suggest } from '../../../src/lib/suggest.ts'

const secretOf = (name: BuildAuthFile): string => `BUILD_AUTH_FILE_${name}`

function parseName(text: string): BuildAuthFile {
  if (isBuildAuthFile(text)) return text
  const near = suggest(text, BUILD_AUTH_FILES)
  throw core.usage({
    text: `"${text}" is no file with logins that builds know; there are ${BUILD_AUTH_FILES.join(', ')}.`,
    hint: near ? `Did you mean ${near}?` : undefined,
  })
}

const setFlags = { stdin: flag.boolean('read the content from standard input, as without CONTENT') } as const

export class SetBuildAuthFile extends BaseCommand {
  static override paths = [['config', 'set-build-auth-file']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description: 'give builds a file with logins for package registries',
    details:
      'NAME is npmrc, netrc or yarnrc. The content is kept among the secrets; builds find it in the home folder, ' +
      'the image that runs does not hold it. Other users of this machine may see arguments: pipe the content in.',
    examples: [['Use your own file', '$0 config set-build-auth-file npmrc < ~/.npmrc']],
  })
  static override synopsis = 'NAME [CONTENT]'
  static override flags = setFlags

  name = Option.String()
  content = Option.String({ required: false })

  override async execute(): Promise<void> {
    const { stdin } = this.values(setFlags)
    const name = parseName(this.name)
    if (stdin && this.content !== undefined) throw core.usage({ text: '--stdin takes no CONTENT.' })
    const secrets = (await this.app.service('secrets')).scope('auth')
    const content = this.content ?? (await this.readPiped(name))
    if (!content.trim() || content.includes('\0')) {
      throw core.usage({ text: `The content of ${name} is empty, or no text.` })
    }
    await secrets.set(secretOf(name), content.endsWith('\n') ? content : `${content}\n`)
    const settings = await this.app.service('settings')
    await settings.change(current => ({
      build_auth_files: { ...current('build_auth_files'), [name]: secretOf(name) },
    }))
  }

  /** A terminal cannot type several lines without showing them. */
  private async readPiped(name: string): Promise<string> {
    const { stdin } = this.context
    if (!('isTTY' in stdin && stdin.isTTY === true)) return this.readSecret('')
    throw core.usage({
      text: `The content of ${name} is read from standard input, which is a terminal.`,
      hint: `Pipe it in: \`keelson config set-build-auth-file ${name} < FILE\`.`,
    })
  }
}

const getFlags = { 'show-content': flag.boolean('print what is in it, passwords among it') } as const

export class GetBuildAuthFile extends BaseCommand {
  static override paths = [['config', 'get-build-auth-file']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description: 'show which files with logins builds get',
  })
  static override synopsis = '[NAME]'
  static override flags = getFlags

  name = Option.String({ required: false })

  override async execute(): Promise<void> {
    const { 'show-content': isShown } = this.values(getFlags)
    const asked = this.name === undefined ? undefined : parseName(this.name)
    const named = (await (await this.app.service('settings')).get('build_auth_files')) ?? {}
    const names = Object.keys(named)
      .filter(name => asked === undefined || name === asked)
      .sort()
    if (!names.length) {
      return this.print(asked ? `${asked} is not set for builds.` : 'No file with logins is set for builds.')
    }
    for (const name of names) {
      if (!isShown) this.print(`${name}: set`)
      else {
        const secrets = (await this.app.service('secrets')).scope('auth')
        const content = await secrets.get(named[name] ?? '')
        if (names.length > 1) this.print(`# ${name}`)
        this.printContent(content)
      }
    }
  }
}

const unsetFlags = { all: flag.boolean('all of them') } as const

export class UnsetBuildAuthFile extends BaseCommand {
  static override paths = [['config', 'unset-build-auth-file']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description: 'take a file with logins back from builds',
  })
  static override synopsis = '[NAME]'
  static override flags = unsetFlags

  name = Option.String({ required: false })

  override async execute(): Promise<void> {
    const { all } = this.values(unsetFlags)
    if ((this.name === undefined) === !all) throw core.usage({ text: 'Give a NAME, or --all.' })
    const asked = this.name === undefined ? undefined : parseName(this.name)
    const settings = await this.app.service('settings')
    const named = (await settings.get('build_auth_files')) ?? {}
    const gone = Object.keys(named).filter(name => asked === undefined || name === asked)
    if (!gone.length && asked) return this.print(`${asked} is not set for builds.`)
    await settings.change(current => {
      const rest = Object.entries(current('build_auth_files') ?? {}).filter(([name]) => !gone.includes(name))
      return { build_auth_files: rest.length ? Object.fromEntries(rest) : undefined }
    })
    const secrets = (await this.app.service('secrets')).scope('auth')
    for (const name of gone) {
      await secrets.delete(named[name] ?? '').catch(error => {
        if (!isFailure(error, 'secret_missing')) throw error
      })
    }
  }
}
