import { failures } from '../../../src/errors.ts'
import type {} from '../../settings/index.ts'
import type { Setting } from '../setting.ts'

export const unsignedSkills: Setting = {
  name: 'unsigned-skills',
  set: {
    description: 'set whether programs may install unsigned skills for you over the HTTP API',
    details:
      'With `refused` (the default) a request for an unsigned skill gets 403, unless it says `allow_unsigned`. With ' +
      '`allowed` it is installed, for programs that cannot ask you. Skills of projects, replacements of signed skills ' +
      'by unsigned ones, and `skill install` are not affected.',
    examples: [['For a desktop application that installs skills', '$0 config set-unsigned-skills allowed']],
    synopsis: 'allowed|refused',
    async run({ app, args: [state] }) {
      if (state !== 'allowed' && state !== 'refused') {
        throw failures.usage({ text: `set-unsigned-skills takes allowed or refused, not "${state}".` })
      }
      const settings = await app.service('settings')
      await settings.change(() => ({ unsigned_skills: state === 'allowed' ? state : undefined }))
    },
  },
  get: {
    description: 'show whether programs may install unsigned skills for you',
    async run({ app, print }) {
      const state = await (await app.service('settings')).get('unsigned_skills')
      print(
        state === 'allowed'
          ? 'Programs may install unsigned skills over the HTTP API.'
          : 'Unsigned skills are refused over the HTTP API, unless a request says allow_unsigned.',
      )
    },
  },
}
