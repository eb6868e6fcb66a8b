import { execFileSync } from 'node:child_process'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { validateSkill } from '../../../../plugins/skill-artifacts/format/validate-skill.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const GOOD = '---\nname: demo\ndescription: d\n---\nbody\n'

/** A folder called `demo` with these files. */
async function demo(files: Record<string, string> = {}): Promise<string> {
  const folder = join(await temporaryFolder(), 'demo')
  for (const [path, text] of Object.entries({ 'SKILL.md': GOOD, ...files })) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}
const withSkill = (text: string) => demo({ 'SKILL.md': text })
const fine = { valid: true, errors: [], warnings: [] }

test.each(['haiku-writer', 'csv-report', 'release-notes', 'unit-prices', 'q', 'dotfiles-helper'])(
  'there is nothing to say of the fixture %s',
  async name => {
    const folder = new URL(`../../../../fixtures/skills/${name}`, import.meta.url).pathname
    expect(await validateSkill(folder)).toEqual(fine)
  },
)

describe('an error, with place and advice, is', () => {
  test.each([
    [
      'a missing description',
      '---\nname: demo\n---\n',
      'SKILL.md, line 1: "description" is missing. Say what the skill does and when to use it.',
    ],
    [
      'a long description',
      `---\nname: demo\n\ndescription: ${'ä'.repeat(1025)}\n---\n`,
      'SKILL.md, line 4: "description" has 1025 characters; 1024 are allowed. Move details to the text below.',
    ],
    [
      'a long compatibility',
      `---\nname: demo\ndescription: d\ncompatibility: ${'c'.repeat(501)}\n---\n`,
      'SKILL.md, line 4: "compatibility" has 501 characters; 500 are allowed. Move details to the text below.',
    ],
    [
      'a name that is not that of the folder',
      '---\ndescription: d\nname: other\n---\n',
      'SKILL.md, line 3: the name "other" is not that of its folder, "demo". Rename one of them.',
    ],
    [
      'no frontmatter',
      'hello\n',
      'SKILL.md, line 1: it does not begin with frontmatter. It begins with a line "---", then name and description, then another line "---".',
    ],
    [
      'a name that steers the terminal',
      '---\nname: "\\e[2J"\ndescription: d\n---\n',
      expect.stringMatching(/line 2: the name "\\u\{1b\}\[2J" is not allowed/),
    ],
  ])('%s', async (_, text, error) => {
    const { valid, errors } = await validateSkill(await withSkill(text))

    expect(valid).toBe(false)
    expect(errors).toContainEqual(error)
  })

  test('each of several at once', async () => {
    const { errors } = await validateSkill(
      await withSkill(`---\nname: De--mo\ncompatibility: ${'c'.repeat(501)}\n---\n`),
    )

    expect(errors.map(error => error.slice(0, 24))).toEqual([
      'SKILL.md, line 1: "descr',
      'SKILL.md, line 2: the na',
      'SKILL.md, line 2: the na',
      'SKILL.md, line 3: "compa',
    ])
  })

  test('a link, wherever it is, besides what SKILL.md says', async () => {
    const folder = await withSkill('---\nname: demo\n---\n')
    await mkdir(join(folder, 'a'))
    await symlink('/etc/passwd', join(folder, 'a', 'link'))
    await symlink('a', join(folder, '.hidden'))

    expect((await validateSkill(folder)).errors.sort()).toEqual([
      '".hidden" is refused: it is a link.',
      '"a/link" is refused: it is a link.',
      expect.stringContaining('"description" is missing'),
    ])
  })

  test('a pipe', async () => {
    const folder = await demo()
    execFileSync('mkfifo', [join(folder, 'pipe')])

    expect((await validateSkill(folder)).errors).toEqual([
      '"pipe" is refused: it is neither a file nor a folder.',
    ])
  })

  test('a folder that is a link', async () => {
    const folder = await demo()
    const link = join(await temporaryFolder(), 'demo')
    await symlink(folder, link)

    expect((await validateSkill(link)).errors).toEqual(['The folder is refused: it is a link.'])
  })

  test('files that are one on some file systems', async () => {
    const { errors } = await validateSkill(await demo({ 'docs/A.md': '', 'docs/a.md': '' }))

    expect(errors).toEqual([
      expect.stringMatching(/"docs\/[aA]\.md" is refused: on some file systems it is the same as/),
    ])
  })

  test('many of one sort, cut short', async () => {
    const folder = await demo()
    for (let i = 0; i < 30; i++) await symlink('x', join(folder, `link${i}`))
    const { errors } = await validateSkill(folder)

    expect(errors).toHaveLength(21)
    expect(errors.at(-1)).toBe('There are at least 10 more of these.')
  })
})

describe('without SKILL.md the only error', () => {
  test('says that the folder is not there', async () => {
    const folder = join(await temporaryFolder(), 'demo')

    expect(await validateSkill(folder)).toEqual({
      valid: false,
      errors: [`SKILL.md is missing: ${folder} does not exist.`],
      warnings: [],
    })
  })

  test('says that its case is wrong', async () => {
    const folder = join(await temporaryFolder(), 'demo')
    await mkdir(folder)
    await writeFile(join(folder, 'skill.md'), GOOD)

    expect((await validateSkill(folder)).errors).toEqual([
      'SKILL.md is missing, but there is skill.md. Rename it: the case counts.',
    ])
  })

  test('says where it should be', async () => {
    const folder = await temporaryFolder()

    expect((await validateSkill(folder)).errors).toEqual([
      `SKILL.md is missing in ${folder}. Name the folder that holds it.`,
    ])
  })
})

describe('a warning, and no error, is', () => {
  test('tools that are separated by commas', async () => {
    const result = await validateSkill(
      await withSkill('---\nname: demo\ndescription: d\nallowed-tools: Read, Bash(a, b)\n---\n'),
    )

    expect(result).toEqual({
      valid: true,
      errors: [],
      warnings: [
        'SKILL.md, line 4: "allowed-tools" is separated by commas, which not every client understands. ' +
          'Write: allowed-tools: Read Bash(a, b)',
      ],
    })
  })

  test.each([
    ['a comma elsewhere', 'description: one, two\nallowed-tools: Read Grep'],
    ['a comma between parentheses', 'description: d\nallowed-tools: Bash(a, b) Read'],
    ['a list of tools', 'description: d\nallowed-tools: [Read, Grep]'],
  ])('not %s', async (_, members) => {
    expect(await validateSkill(await withSkill(`---\nname: demo\n${members}\n---\none, two\n`))).toEqual(fine)
  })

  test('a file of more than 500 lines', async () => {
    const withLines = (count: number) => withSkill(GOOD + '\n'.repeat(count - 6))

    expect(await validateSkill(await withLines(500))).toEqual(fine)
    expect((await validateSkill(await withLines(501))).warnings).toEqual([
      expect.stringMatching(/^SKILL\.md, line 501: it has 501 lines; more than 500 .* Move details to files/),
    ])
  })

  test.each([
    ['descripton', 'description'],
    ['allowed_tools', 'allowed-tools'],
    ['licence', 'license'],
  ])('the member %s, which is nearly another', async (name, meant) => {
    const { warnings } = await validateSkill(await withSkill(`---\nname: demo\n${name}: x\n---\n`))

    expect(warnings).toEqual([`SKILL.md, line 3: "${name}" means nothing. Did you mean "${meant}"?`])
  })

  test('not a member of some client', async () => {
    const text = '---\nname: demo\ndescription: d\nmodel: opus\ndisable-model-invocation: true\n---\n'
    expect(await validateSkill(await withSkill(text))).toEqual(fine)
  })

  test('an executable file, since builds keep no modes', async () => {
    const folder = await demo({ 'scripts/run.sh': 'echo', '.hidden/run.sh': 'echo' })
    await chmod(join(folder, 'scripts/run.sh'), 0o755)
    await chmod(join(folder, '.hidden/run.sh'), 0o755)

    expect(await validateSkill(folder)).toEqual({
      valid: true,
      errors: [],
      warnings: [expect.stringMatching(/^"scripts\/run\.sh" is executable, .* `sh scripts\/run\.sh`\.$/)],
    })
  })
})

test.each([
  ['empty lines', '\n\n', 'Remove the empty lines.'],
  ['a byte order mark', '\ufeff', 'Save the file without a byte order mark.'],
])('%s in front of the frontmatter are worth a warning', async (_, before, hint) => {
  expect(await validateSkill(await withSkill(`${before}${GOOD}`))).toEqual({
    valid: true,
    errors: [],
    warnings: [
      `SKILL.md, line 1: there is something in front of the "---", which not every client understands. ${hint}`,
    ],
  })
})

test('a SKILL.md that is a link is an error, and not followed', async () => {
  const folder = join(await temporaryFolder(), 'demo')
  await mkdir(folder)
  await symlink('/etc/hostname', join(folder, 'SKILL.md'))

  expect(await validateSkill(folder)).toEqual({
    valid: false,
    errors: ['"SKILL.md" is refused: it is a link.'],
    warnings: [],
  })
})

test('a SKILL.md that is a folder is an error', async () => {
  const folder = join(await temporaryFolder(), 'demo')
  await mkdir(join(folder, 'SKILL.md'), { recursive: true })

  expect((await validateSkill(folder)).errors).toEqual(['SKILL.md is not a file.'])
})

test('what may not be read is an error; SKILL.md itself is a failure', async () => {
  const folder = await demo({ 'secret/file': 'x' })
  const isRoot = process.geteuid?.() === 0
  await chmod(join(folder, 'secret'), 0o000)
  await chmod(join(folder, '..'), 0o755)
  await chmod(folder, 0o755)
  if (isRoot) process.seteuid?.(65534) // root may read everything
  try {
    expect((await validateSkill(folder)).errors).toEqual([
      `${join(folder, 'secret')} cannot be read: EACCES.`,
    ])
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
  await chmod(join(folder, 'secret'), 0o755)
  await chmod(join(folder, 'SKILL.md'), 0o000)
  if (isRoot) process.seteuid?.(65534)
  try {
    await expect(validateSkill(folder)).rejects.toMatchObject({ code: 'skill_unreadable', status: 500 })
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
})

test("a skill's own repository does not belong to it", async () => {
  const folder = await demo({ '.git/config': '' })
  await symlink('config', join(folder, '.git', 'link'))

  expect(await validateSkill(folder)).toEqual(fine)
})

test('a name of a single character is valid', async () => {
  const folder = join(await temporaryFolder(), 'x')
  await mkdir(folder)
  await writeFile(join(folder, 'SKILL.md'), '---\nname: x\ndescription: d\n---\n')

  expect(await validateSkill(folder)).toEqual(fine)
})
