import { flag } from '../../../src/cli/flags.ts'
import { failures as core, isFailure } from '../../../src/errors.ts'
import { BUILD_AUTH_FILES, type BuildAuthFile, isBuildAuthFile } from '../../../src/lib/build-auth.ts'
import { suggest } from '../../../src/lib/suggest.ts'
import type {} from '../../secrets/index.ts'
import type {} from '../../settings/index.ts'
import { action, type Setting } from '../setting.ts'

const secretOf = (name: BuildAuthFile): string => `BUILD_AUTH_FILE_${name}`

function parseName(text: string): BuildAuthFile {
  if (isBuildAuthFile(text)) return text
  const near = suggest(text, BUILD_AUTH_FILES)
  throw core.usage({
    text: `"${text}" is not a file with logins that builds know; the files are ${BUILD_AUTH_FILES.join(', ')}.`,
    hint: near ? `Did you mean ${near}?` : undefined,
  })
}

/** The content stays among the secrets; the settings hold only the name of the secret. */
export const buildAuthFile: Setting = {
  name: 'build-auth-file',
  set: action({
    description: 'give builds a file with logins for package registries',
    details:
      'NAME is npmrc, netrc or yarnrc. The content is kept among the secrets. Builds find it in their home folder; the ' +
      'finished image does not contain it. Other users of this machine can see arguments, so pipe the content in.',
    examples: [['Use your own file', '$0 config set-build-auth-file npmrc < ~/.npmrc']],
    synopsis: 'NAME [CONTENT]',
    flags: { stdin: flag.boolean('read the content from standard input, as without CONTENT') },
    async run({ app, args: [word = '', given], values: { stdin }, readPiped }) {
      const name = parseName(word)
      if (stdin && given !== undefined) throw core.usage({ text: '--stdin takes no CONTENT.' })
      const secrets = (await app.service('secrets')).scope('auth')
      const content = given ?? (await readPiped())
      // A terminal cannot type several lines without showing them.
      if (content === undefined) throw pipeNeeded(name)
      if (!content.trim() || content.includes('\0')) {
        throw core.usage({ text: `The content of ${name} is empty, or no text.` })
      }
      await secrets.set(secretOf(name), content.endsWith('\n') ? content : `${content}\n`)
      const settings = await app.service('settings')
      await settings.change(current => ({
        build_auth_files: { ...current('build_auth_files'), [name]: secretOf(name) },
      }))
    },
  }),
  get: action({
    description: 'show which files with logins for package registries builds get',
    synopsis: '[NAME]',
    flags: { 'show-content': flag.boolean('print its content, including passwords') },
    async run({ app, args: [word], values: { 'show-content': isShown }, print, printContent }) {
      const asked = word === undefined ? undefined : parseName(word)
      const named = (await (await app.service('settings')).get('build_auth_files')) ?? {}
      const names = Object.keys(named)
        .filter(name => asked === undefined || name === asked)
        .sort()
      if (!names.length) {
        return print(asked ? `${asked} is not set for builds.` : 'No file with logins is set for builds.')
      }
      for (const name of names) {
        if (!isShown) {
          print(`${name}: set`)
          continue
        }
        const secrets = (await app.service('secrets')).scope('auth')
        const content = await secrets.get(named[name] ?? '')
        if (names.length > 1) print(`# ${name}`)
        printContent(content)
      }
    },
  }),
  unset: action({
    description: 'stop giving builds a file with logins for package registries',
    synopsis: '[NAME]',
    flags: { all: flag.boolean('all such files') },
    async run({ app, args: [word], values: { all }, print }) {
      if ((word === undefined) === !all) throw core.usage({ text: 'Give a NAME, or --all.' })
      const asked = word === undefined ? undefined : parseName(word)
      const settings = await app.service('settings')
      const named = (await settings.get('build_auth_files')) ?? {}
      const gone = Object.keys(named).filter(name => asked === undefined || name === asked)
      if (!gone.length && asked) return print(`${asked} is not set for builds.`)
      await settings.change(current => {
        const files = Object.entries(current('build_auth_files') ?? {})
        const rest = files.filter(([name]) => !gone.includes(name))
        return { build_auth_files: rest.length ? Object.fromEntries(rest) : undefined }
      })
      const secrets = (await app.service('secrets')).scope('auth')
      for (const name of gone) {
        await secrets.delete(named[name] ?? '').catch(error => {
          if (!isFailure(error, 'secret_missing')) throw error
        })
      }
    },
  }),
}

const pipeNeeded = (name: BuildAuthFile): Error =>
  core.usage({
    text: `The content of ${name} is read from standard input, which is a terminal.`,
    hint: `Pipe it in: \`keelson config set-build-auth-file ${name} < FILE\`.`,
  })
