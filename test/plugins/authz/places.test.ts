import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { openDecider } from '../../../plugins/authz/open-decider.ts'
import { parseConfig } from '../../../plugins/authz/parse-config.ts'
import { createLog } from '../../../src/log.ts'

const log = createLog({ write: () => {}, human: false, debug: false })

const problemOf = async (text: string): Promise<string> =>
  openDecider(await parseConfig(text, 'here'), { server: 's', log }).then(String, String)

const head = 'version: "1.0"\ntype: cedarv1\ncedar:\n  policies:\n'

test.each<[string, string, string]>([
  [
    'a literal block',
    '    - | # comment\n\n      // é\n      permit(principal, action, resource)\n        when { wrong };\n',
    'line 9, column 16',
  ],
  [
    'a literal block in lines of Windows',
    '    - |2-\r\n\r\n      permit(principal, action, resource)\r\n        when { wrong };\r\n',
    'line 8, column 16',
  ],
  ['a folded block', '    - >\n      permit(principal, action,\n      wrong);\n', 'line 7, column 7'],
  ['plain text', '    - permit(principal, action,\n        wrong);\n', 'line 6, column 9'],
  [
    'single quotes',
    "    - 'permit(principal, action, resource)\n\n       when { context.a == \"it''s\" && wrong };'\n",
    'line 7, column 39',
  ],
  [
    'double quotes',
    '    - "permit(principal, action,\\n\\n \\x20 \\u0072\\U00000065source) when \\\n      { context.a == \\"\\ud83d\\ude00\\" && wrong };"\n',
    'line 6, column 42',
  ],
  [
    'an alias',
    '    - permit(principal, action, resource);\n    - &a permit(principal, action, wrong);\n    - *a\n',
    'line 6, column 36',
  ],
  [
    'the second of two texts',
    '    - permit(principal, action, resource);\n    - forbid(principal\n',
    'line 6,',
  ],
  [
    'one member in braces',
    '    ["permit(principal, action, resource);", "forbid(principal, wrong, resource);"]\n',
    'line 5, column 65',
  ],
])('an error in %s names line and column of the file', async (_, policies, place) => {
  expect(await problemOf(head + policies)).toContain(`here does not say what callers may do: ${place}`)
})

test('an error in JSON names line and column of the file', async () => {
  const text = '{\n "version": "1.0", "type": "cedarv1",\n "cedar": {"policies": ["permit(\\n wrong);"]}\n}'
  expect(await problemOf(text)).toContain('do: line 3, column 36')
})

test('an error in policies of no file names the text and its line', async () => {
  const inline = { version: '1.0', type: 'cedarv1', cedar: { policies: ['\npermit(wrong);'] } }
  const source = { authz: inline, where: 'authz_config', locate: () => undefined }
  await expect(openDecider(source, { server: 's', log })).rejects.toThrow('cedar.policies, text 1, line 2')
})

const styles = ['BLOCK_LITERAL', 'BLOCK_FOLDED', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'PLAIN'] as const
const piece = fc.constantFrom(
  'a',
  "'",
  '"',
  '\\',
  '\n',
  ' ',
  '\t',
  '#',
  ': ',
  '😀',
  '\u00a0',
  '\u0085',
  '\u0001',
)

test('each character that can be seen is found, however YAML writes the text', {
  timeout: 120_000,
}, async () => {
  let checked = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 40 }),
      fc.constantFrom(...styles),
      fc.constantFrom(0, 20),
      async (pieces, defaultStringType, lineWidth) => {
        // A mark that stands nowhere else: where it is found is where it stands.
        const at = Math.floor(pieces.length / 2)
        const value = [...pieces.slice(0, at), '§', ...pieces.slice(at)].join('')
        const options = { defaultStringType, defaultKeyType: 'PLAIN', lineWidth } as const
        const config = { version: '1.0', type: 'cedarv1', cedar: { policies: ['first', value] } }
        const text = stringify(config, options)
        const { locate } = await parseConfig(text, 'here')
        const found = locate(1, value.indexOf('§'))
        const line = text.split('\n')[(found?.line ?? 0) - 1]
        expect([text, line?.[(found?.column ?? 0) - 1]]).toEqual([text, '§'])
        checked++
      },
    ),
  )
  expect(checked).toBe(100)
})
