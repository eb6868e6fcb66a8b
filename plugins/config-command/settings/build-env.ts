import { flag } from '../../../src/cli/flags.ts'
import { failures as core } from '../../../src/errors.ts'
import type {} from '../../secrets/index.ts'
import type {} from '../../settings/index.ts'
import { assertBuildName, assertBuildValue } from '../assert-build-variable.ts'
import { action, type Setting } from '../setting.ts'

export const buildEnv: Setting = {
  name: 'build-env',
  set: action({
    description: 'set an environment variable for builds',
    examples: [
      ['Use a package mirror', '$0 config set-build-env NPM_CONFIG_REGISTRY https://npm.example.com'],
    ],
    synopsis: 'KEY [VALUE]',
    flags: {
      'from-secret': flag.boolean('VALUE is the name of a secret'),
      'from-env': flag.boolean('take the value from the environment of each build'),
    },
    async run({ app, args: [key = '', value], values }) {
      const { 'from-secret': fromSecret, 'from-env': fromEnv } = values
      if (fromSecret && fromEnv) {
        throw core.usage({ text: '--from-secret and --from-env exclude each other.' })
      }
      if (fromEnv && value !== undefined) throw core.usage({ text: '--from-env takes no VALUE.' })
      if (!fromEnv && value === undefined) throw core.usage({ text: `${key} needs a value.` })
      assertBuildName(key)
      if (fromSecret && value !== undefined) await (await app.service('secrets')).get(value)
      else if (value !== undefined) assertBuildValue(key, value)
      await (await app.service('settings')).change(current => {
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
    },
  }),
  get: {
    description: 'show the environment variables of builds',
    synopsis: '[KEY]',
    async run({ app, args: [key], print }) {
      const settings = await app.service('settings')
      const shown = new Map([
        ...Object.entries((await settings.get('build_env')) ?? {}),
        ...Object.entries((await settings.get('build_env_from_secrets')) ?? {}).map(
          ([name, secret]) => [name, `<from-secret:${secret}>`] as const,
        ),
        ...((await settings.get('build_env_from_shell')) ?? []).map(name => [name, '<from-env>'] as const),
      ])
      if (key !== undefined) {
        const value = shown.get(key)
        return print(value === undefined ? `${key} is not set for builds.` : `${key}=${value}`)
      }
      if (!shown.size) return print('No environment variable is set for builds.')
      print('Environment variables of builds:')
      for (const [name, value] of [...shown].sort(([a], [b]) => (a < b ? -1 : 1))) {
        print(`  ${name}=${value}`)
      }
    },
  },
  unset: action({
    description: 'remove environment variables of builds',
    synopsis: '[KEY]',
    flags: { all: flag.boolean('remove all of them') },
    async run({ app, args: [key], values: { all }, print }) {
      if ((key === undefined) === !all) throw core.usage({ text: 'Give a KEY, or --all.' })
      const settings = await app.service('settings')
      if (key === undefined) {
        return settings.change(() => ({
          build_env: undefined,
          build_env_from_secrets: undefined,
          build_env_from_shell: undefined,
        }))
      }
      let found = false
      await settings.change(current => {
        const plain = current('build_env')
        const secrets = current('build_env_from_secrets')
        const shell = current('build_env_from_shell') ?? []
        found = Boolean(plain && key in plain) || Boolean(secrets && key in secrets) || shell.includes(key)
        const rest = shell.filter(name => name !== key)
        return {
          build_env: orNothing(without(plain, key)),
          build_env_from_secrets: orNothing(without(secrets, key)),
          build_env_from_shell: rest.length ? rest : undefined,
        }
      })
      if (!found) print(`${key} is not set for builds.`)
    },
  }),
}

const without = (map: Record<string, string> | undefined, key: string): Record<string, string> =>
  Object.fromEntries(Object.entries(map ?? {}).filter(([name]) => name !== key))

const orNothing = <T extends object>(map: T): T | undefined => (Object.keys(map).length ? map : undefined)
