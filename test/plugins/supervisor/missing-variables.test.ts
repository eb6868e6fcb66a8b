import { expect, test } from 'vitest'
import { missingVariables } from '../../../plugins/supervisor/host/missing-variables.ts'

test.each([
  ['Error: GITHUB_PERSONAL_ACCESS_TOKEN environment variable is required', ['GITHUB_PERSONAL_ACCESS_TOKEN']],
  ['Please set SLACK_BOT_TOKEN and SLACK_TEAM_ID', ['SLACK_BOT_TOKEN', 'SLACK_TEAM_ID']],
  ["KeyError: 'NOTION_API_KEY'", ['NOTION_API_KEY']],
  ['missing API_TOKEN', ['API_TOKEN']],
  ['Connected with API_TOKEN', []],
  ["Error: required module: code: 'MODULE_NOT_FOUND'", []],
  ['TypeError [ERR_INVALID_ARG_TYPE]: "path" must be a string', []],
  ['the file must exist', []],
])('%j names %j', (line, names) => {
  expect(missingVariables(['starting', line], {})).toEqual(names)
})

test('a variable that the server was given is not missing', () => {
  const config = { env_vars: { API_URL: 'http://a' }, secrets: ['token,target=API_TOKEN'] }
  expect(missingVariables(['API_URL, API_TOKEN and API_USER must be right'], config)).toEqual(['API_USER'])
})
