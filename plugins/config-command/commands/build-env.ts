import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { failures as core } from '../../../src/errors.ts'
import { assertBuildName, assertBuildValue } from '../build-variables.ts'

const setFlags = {
  'from-secret': flag.boolean('VALUE is the name of a secret'),
  'from-env': flag.boolean('take the value from the environment of each build'),
} as const

export class SetBuildEnv extends BaseCommand {
  static override paths = [['config', 'set-build-env']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description: 'set an environment variable for the building of images',
    examples: [
      ['Use a package mirror', '$0 config set-build-env NPM_CONFIG_REGISTRY https://npm.example.com'],
    ],
  })
  static override synopsis = 'KEY [VALUE]'
  static override flags = setFlags

  key = Option.String()
  value = Option.String({ required: false })

  override async execute(): Promise<void> {
    const { 'from-secret': fromSecret, 'from-env': fromEnv } = this.values(setFlags)
    const { key, value } = this
    if (fromSecret && fromEnv) throw core.usage({ text: '--from-secret and --from-env exclude each other.' })
    if (fromEnv && value !== undefined) throw core.usage({ text: '--from-env takes no VALUE.' })
    if (!fromEnv && value === undefined) throw core.usage({ text: `Which value shall ${key} have?` })
    assertBuildName(key)
    if (fromSecret && value !== undefined) await (await this.app.service('secrets')).get(value)
    else if (value !== undefined) assertBuildValue(key, value)
    const settings = await this.app.service('settings')
    await settings.change(current => {
      const plain = without(current('build_env'), key)
      const shell = (current('build_env_from_shell') ?? []).filter(name => name !== key)
      const secrets = without(current('build_env_from_secrets'), key)
      const entry = value === undefined ? {} : { [key]: value }
      return {
        build_env: orNothing(fromSecret ? plain : { ...plain, ...entry }),
        build_env_from_shell: fromEnv ? [...shell, key].sort() : shell.length ? shell : undefined,
        build_env_from_secrets: orNothing(fromSecret ? { ...secrets, ...entry } : secrets),
      }
    })
  }
}

export class GetBuildEnv extends BaseCommand {
  static override paths = [['config', 'get-build-env']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description: 'show the environment variables of builds',
  })
  static override synopsis = '[KEY]'

  key = Option.String({ required: false })

  override async execute(): Promise<void> {
    const settings = await this.app.service('settings')
    const shown = new Map([
      ...Object.entries((await settings.get('build_env')) ?? {}),
      ...Object.entries((await settings.get('build_env_from_secrets')) ?? {}).map(
        ([key, secret]) => [key, `<from-secret:${secret}>`] as const,
      ),
      ...((await settings.get('build_env_from_shell')) ?? []).map(key => [key, '<from-env>'] as const),
    ])
    if (this.key !== undefined) {
      const value = shown.get(this.key)
      return this.print(value === undefined ? `${this.key} is not set for builds.` : `${this.key}=${value}`)
    }
    if (!shown.size) return this.print('No environment variable is set for builds.')
    this.print('Environment variables of builds:')
    for (const [key, value] of [...shown].sort(([a], [b]) => (a < b ? -1 : 1)))
      this.print(`  ${key}=${value}`)
  }
}

const unsetFlags = { all: flag.boolean('all of them') } as const

export class UnsetBuildEnv extends BaseCommand {
  static override paths = [['config', 'unset-build-env']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description: 'take environment variables of builds back',
  })
  static override synopsis = '[KEY]'
  static override flags = unsetFlags

  key = Option.String({ required: false })

  override async execute(): Promise<void> {
    const { all } = this.values(unsetFlags)
    const { key } = this
    if ((key === undefined) === !all) throw core.usage({ text: 'Give a KEY, or --all.' })
    const settings = await this.app.service('settings')
    let found = false
    await settings.change(current => {
      const plain = current('build_env')
      const secrets = current('build_env_from_secrets')
      const shell = current('build_env_from_shell') ?? []
      if (key === undefined) {
        found = true
        return { build_env: undefined, build_env_from_secrets: undefined, build_env_from_shell: undefined }
      }
      found = Boolean(plain && key in plain) || Boolean(secrets && key in secrets) || shell.includes(key)
      const rest = shell.filter(name => name !== key)
      return {
        build_env: orNothing(without(plain, key)),
        build_env_from_secrets: orNothing(without(secrets, key)),
        build_env_from_shell: rest.length ? rest : undefined,
      }
    })
    if (!found) this.print(`${key} is not set for builds.`)
  }
}

const without = (map: Record<string, string> | undefined, key: string): Record<string, string> =>
  Object.fromEntries(Object.entries(map ?? {}).filter(([name]) => name !== key))

const orNothing = <T extends object>(map: T): T | undefined => (Object.keys(map).length ? map : undefined)
