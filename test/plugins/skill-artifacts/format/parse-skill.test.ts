import { execFileSync } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseSkill, readSkill } from '../../../../plugins/skill-artifacts/format/parse-skill.ts'
import { Failure } from '../../../../src/errors.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const fixture = (name: string) => new URL(`../../../../fixtures/skills/${name}`, import.meta.url).pathname
const parse = (text: string) => parseSkill(Buffer.from(text))
const withMembers = (members: string) =>
  parse(`---\nname: demo\ndescription: d\n${members}\n---\nbody\n`).manifest

function failure(text: string | Buffer) {
  try {
    parseSkill(Buffer.from(text))
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { line } = error.details as { line?: number }
    return { code: error.code, message: error.message, hint: error.hint, line }
  }
  throw new Error('it was read')
}

test('every member is read', async () => {
  const { manifest, body } = await readSkill(fixture('csv-report'))

  expect(manifest).toEqual({
    name: 'csv-report',
    description: expect.stringMatching(/^Turns a table .* --- a bank statement, say, or a list of orders\.$/),
    version: '1.10',
    license: 'Apache-2.0',
    compatibility: 'Needs Python 3 without any packages.',
    allowedTools: ['Read', 'Bash(python3 scripts/summarise.py *)'],
    metadata: { author: 'keelson', audience: 'office' },
    requires: [],
  })
  expect(body).toMatch(/^# CSV report\n[\s\S]*\n---\n\nA line of three dashes/)
})

test('the skills it needs are read from both places, each once', async () => {
  const { manifest } = await readSkill(fixture('release-notes'))

  expect(manifest.requires).toEqual([
    'ghcr.io/example/skills/haiku-writer:1.0',
    'git://github.com/example/skills@v2.1.0#csv-report',
    'ghcr.io/example/skills/q:1',
  ])
})

test('members without a value count as not there', async () => {
  expect((await readSkill(fixture('q'))).manifest).toEqual({
    name: 'q',
    description: 'Asks one question back before any work begins.',
    allowedTools: [],
    metadata: {},
    requires: [],
  })
})

test('a version among the metadata counts when there is no other', async () => {
  expect((await readSkill(fixture('dotfiles-helper'))).manifest.version).toBe('3.1')
  expect(withMembers('version: 2\nmetadata: {version: 1}').version).toBe('2')
})

test.each([
  ['true', 'true'],
  ['1.0', '1.0'],
  ['0x10', '0x10'],
  ['2026-11-21', '2026-11-21'],
  ['"null"', 'null'],
])('a version written %s is the text %s', (written, text) => {
  expect(withMembers(`version: ${written}`).version).toBe(text)
})

describe('the frontmatter', () => {
  test('ends at a line of three dashes, not at three dashes in a line', () => {
    const { manifest, body } = parse('---\nname: demo\ndescription: a --- b\nlicense: ----\n---\n--- x ---\n')

    expect([manifest.description, manifest.license, body]).toEqual(['a --- b', '----', '--- x ---\n'])
  })

  test.each([
    ['a byte order mark', '\ufeff---\nname: demo\ndescription: d\n---\nbody\n'],
    ['empty lines', '\n \n---\nname: demo\ndescription: d\n---\nbody\n'],
    ['blanks behind the dashes', '---  \nname: demo\ndescription: d\n---\t\nbody\n'],
    ['an empty line behind it', '---\nname: demo\ndescription: d\n---\n\nbody\n'],
  ])('may have %s', (_, text) => {
    expect(parse(text)).toMatchObject({ manifest: { name: 'demo' }, body: 'body\n' })
  })

  test('may have Windows line ends', () => {
    const { manifest, body } = parse('---\r\nname: demo\r\ndescription: "d"\r\n---\r\n\r\none\r\ntwo\r\n')

    expect([manifest.description, body]).toEqual(['d', 'one\r\ntwo\r\n'])
  })

  test('may be all there is', () => {
    expect(parse('---\nname: demo\ndescription: d\n---').body).toBe('')
  })
})

describe('tools', () => {
  test.each([
    ['text with blanks', 'allowed-tools: Read Grep', ['Read', 'Grep']],
    ['text with commas', 'allowed-tools: Read, Grep,Glob', ['Read', 'Grep', 'Glob']],
    ['a list', 'allowed-tools: [Read, "Bash(git add *)"]', ['Read', 'Bash(git add *)']],
    ['blanks in parentheses', 'allowed-tools: Bash(git add *) Read', ['Bash(git add *)', 'Read']],
    ['commas in parentheses', 'allowed-tools: Bash(a, b) Read', ['Bash(a, b)', 'Read']],
    ['nothing', 'allowed-tools: ""', []],
    ['a list of nothing', 'allowed-tools: ["", " "]', []],
  ])('may be %s', (_, members, tools) => {
    expect(withMembers(members).allowedTools).toEqual(tools)
  })
})

describe('is refused, with its line:', () => {
  test.each<[string, string | Buffer, number | undefined, RegExp]>([
    ['an empty file', '', 1, /is empty/],
    ['a file of blanks', '\n \n', 1, /is empty/],
    ['no frontmatter', '# Title\n', 1, /does not begin with frontmatter/],
    ['no frontmatter behind empty lines', '\n\n# Title\n', 3, /does not begin with frontmatter/],
    ['text behind the first dashes', '---name: a\n---\n', 1, /does not begin with frontmatter/],
    ['no end', '\n---\nname: a\n', 2, /no end/],
    ['only dashes in a line as end', '---\nname: a --- b\n', 1, /no end/],
    ['no name', '---\ndescription: d\n---\n', 1, /"name" is missing/],
    ['an empty name', '---\ndescription: d\nname: ""\n---\n', 3, /"name" is empty/],
    ['a name of 65 characters', `---\nname: ${'a'.repeat(65)}\n---\n`, 2, /longer than 64/],
    ['a name with capitals', '---\nname: Demo\n---\n', 2, /other characters/],
    ['a name that leads out', '---\nname: ../evil\n---\n', 2, /other characters/],
    ['a name with a hyphen at its end', '---\nname: demo-\n---\n', 2, /begins or ends/],
    ['a name with two hyphens', '---\nname: de--mo\n---\n', 2, /has "--"/],
    ['a name that is a list', '---\n\nname: [a]\n---\n', 3, /"name" is a list/],
    ['broken YAML', '---\nname: demo\ndescription: "d\n---\n', 3, /not valid YAML/],
    ['a colon in a value', '---\nname: demo\ndescription: Use when: now\n---\n', 3, /not valid YAML/],
    ['a tab', '---\nname: demo\nmetadata:\n\ta: b\n---\n', 4, /not valid YAML/],
    ['a member twice', '---\nname: demo\nlicense: a\nlicense: b\n---\n', 4, /twice/],
    ['a list instead of members', '---\n- name\n---\n', 2, /not a list of names and values/],
    ['a text instead of members', '---\nhello\n---\n', 2, /not a list of names and values/],
    ['tools as a mapping', '---\nname: demo\nallowed-tools: {a: b}\n---\n', 3, /a mapping/],
    ['tools as an alias', '---\nname: demo\nx: &a b\nallowed-tools: *a\n---\n', 4, /an alias/],
    ['tools that are lists', '---\nname: demo\nallowed-tools: [[a]]\n---\n', 3, /more than texts/],
    ['metadata that is nested', '---\nname: demo\nmetadata: {a: {b: c}}\n---\n', 3, /more than texts/],
    ['metadata that is a text', '---\nname: demo\nmetadata: a\n---\n', 3, /a text/],
    ['metadata with a name twice', '---\nname: demo\nmetadata: {a: b, a: c}\n---\n', 3, /twice/],
    [
      'too many needed skills',
      `---\nname: demo\ntoolhive.requires: ${Array.from({ length: 101 }, (_, i) => `a/b${i}`).join(' ')}\n---\n`,
      3,
      /101 other skills/,
    ],
    [
      'text that is not UTF-8',
      Buffer.from('---\nname: demo\ndescription: caf\xe9\n---\n', 'latin1'),
      3,
      /not UTF-8/,
    ],
    ['UTF-16', Buffer.from('---\nname: demo\n---\n', 'utf16le').swap16(), 1, /frontmatter|UTF-8/],
    [
      'too much frontmatter',
      `---\nname: demo\ndescription: ${'d'.repeat(66_000)}\n---\n`,
      1,
      /larger than 64 KiB/,
    ],
    ['too large a file', Buffer.alloc(1024 * 1024 + 1, '\n'), undefined, /larger than 1 MiB/],
    [
      'lists nested thousands of times',
      `---\nname: demo\nx: ${'['.repeat(60_000)}\n---\n`,
      3,
      /not valid YAML/,
    ],
    [
      'mappings nested thousands of times',
      `---\nname: demo\nx: ${'{a: '.repeat(15_000)}\n---\n`,
      3,
      /not valid YAML/,
    ],
  ])('%s', (_, text, line, message) => {
    expect(failure(text)).toMatchObject({
      code: 'skill_invalid',
      ...(line ? { line } : {}),
      message: expect.stringMatching(message),
    })
  })

  test('thousands of members, without comparing each with each', () => {
    const members = Array.from({ length: 7000 }, (_, i) => `k${i}: 1`).join('\n')

    expect(withMembers(members).name).toBe('demo')
  })

  test('a bomb of aliases, before it is unfolded', () => {
    const levels = Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`).join('\n')

    expect(withMembers(`a0: &a0 x\n${levels}`).name).toBe('demo')
    expect(failure(`---\nname: demo\na0: &a0 x\n${levels}\nmetadata: *a30\n---\n`).message).toMatch(
      /an alias/,
    )
  })
})

test('a hint says what could be written instead', () => {
  expect(failure('---\nname: My Skill!\n---\n').hint).toBe('For example: my-skill')
  expect(failure('---\nname: demo\ndescription: Use when: now\n---\n').hint).toMatch(/quotes/)
})

test('what only breaks a rule of style is read', () => {
  const long = 'd'.repeat(2000)

  expect(parse(`---\nname: demo\ndescription: ${long}\n---\n`).manifest.description).toBe(long)
  expect(parse('---\nname: demo\n---\n').manifest.description).toBe('')
})

describe('a folder', () => {
  test('without SKILL.md is a failure that names it', async () => {
    const folder = await temporaryFolder()

    await expect(readSkill(folder)).rejects.toMatchObject({
      code: 'skill_missing',
      message: `There is no SKILL.md in ${folder}.`,
    })
  })

  test('whose SKILL.md is a link is not read', async () => {
    const folder = await temporaryFolder()
    await symlink(join(fixture('q'), 'SKILL.md'), join(folder, 'SKILL.md'))

    await expect(readSkill(folder)).rejects.toMatchObject({ code: 'skill_unreadable' })
  })

  test('whose SKILL.md is a folder is not read', async () => {
    const folder = await temporaryFolder()
    await mkdir(join(folder, 'SKILL.md'))

    await expect(readSkill(folder)).rejects.toMatchObject({ code: 'skill_unreadable' })
  })

  test('whose SKILL.md is a pipe does not wait for ever', async () => {
    const folder = await temporaryFolder()
    execFileSync('mkfifo', [join(folder, 'SKILL.md')])

    await expect(readSkill(folder)).rejects.toMatchObject({ code: 'skill_unreadable' })
  })

  test('is read as its bytes are', async () => {
    const folder = await temporaryFolder()
    const bytes = await readFile(join(fixture('unit-prices'), 'SKILL.md'))
    await writeFile(join(folder, 'SKILL.md'), bytes)

    expect(await readSkill(folder)).toEqual(parseSkill(bytes))
  })
})
