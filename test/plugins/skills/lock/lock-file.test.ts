import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readLockFile } from '../../../../plugins/skills/lock/lock-file.ts'
import { ALICE } from '../../../support/fake-skill-sources.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { skillsHome } from '../skills-home.ts'

const SHA = `sha256:${'a'.repeat(64)}`
const COMMIT = 'c'.repeat(40)

async function lockOf(text: string, name = 'keelson.lock.yaml') {
  const root = await temporaryFolder()
  await mkdir(root, { recursive: true })
  await writeFile(join(root, name), text)
  return readLockFile(root)
}

/** A whole entry as ToolHive writes it. */
const FULL = `version: 1
skills:
  - name: pdf
    version: 1.2.0
    source: ghcr.io/acme/pdf:1.2.0
    resolvedReference: ghcr.io/acme/pdf@${SHA}
    digest: ${SHA}
    contentDigest: sha256:${'b'.repeat(64)}
    provenance:
      signerIdentity: https://github.com/acme/skills/.github/workflows/release.yml@refs/tags/v1.2.0
      certIssuer: https://token.actions.githubusercontent.com
      repositoryUri: https://github.com/acme/skills
    explicit: true
  - name: fonts
    source: git://github.com/acme/fonts#skills/fonts
    resolvedReference: git://github.com/acme/fonts@${COMMIT}#skills/fonts
    digest: ${COMMIT}
    unsigned: true
    requiredBy: [pdf]
`

describe('reading', () => {
  test('an entry has all that ToolHive writes', async () => {
    const { entries } = await lockOf(FULL)

    expect(entries.get('pdf')).toMatchObject({ version: '1.2.0', digest: SHA, explicit: true })
    expect(entries.get('fonts')).toMatchObject({ digest: COMMIT, unsigned: true, requiredBy: ['pdf'] })
  })

  test('ToolHive’s file is read where ours is not there, and written as ours', async () => {
    const lock = await lockOf(FULL, 'toolhive.lock.yaml')

    expect([...lock.entries.keys()]).toEqual(['pdf', 'fonts'])
    expect(lock.readFrom).toMatch(/toolhive\.lock\.yaml$/)
    expect(lock.path).toMatch(/keelson\.lock\.yaml$/)
    expect(lock.text).toBeUndefined()
  })

  test.each(['', '# nothing\n', 'version: 0\n', 'skills:\n', 'version: 1\nskills: []\n'])(
    '%j has no skills',
    async text => {
      expect((await lockOf(text)).entries.size).toBe(0)
    },
  )

  test('without any file there are no skills', async () => {
    const lock = await readLockFile(await temporaryFolder())

    expect(lock).toMatchObject({ readFrom: undefined, text: undefined })
    expect(lock.entries.size).toBe(0)
  })

  test('another version is refused', async () => {
    await expect(lockOf('version: 2\n')).rejects.toMatchObject({ code: 'skill_lock_version', status: 400 })
  })
})

const entry = (members: string) => `skills:\n  - ${members.trim().replaceAll('\n', '\n    ')}\n`
const valid = `name: pdf\nsource: pdf\ndigest: ${SHA}`

describe('refusing', () => {
  test.each([
    ['text that is no YAML', 'skills: [', ''],
    ['what is no mapping', '- a\n', 'it is not a mapping'],
    ['skills that are no list', 'skills: {}\n', 'its skills are not a list'],
    ['a skill that is no mapping', 'skills: [pdf]\n', 'is not a mapping'],
    ['an unfinished merge', '<<<<<<< HEAD\nversion: 1\n', 'marks of a merge'],
    ['a name that leads elsewhere', entry(valid.replace('pdf', '../pdf')), 'not a name for a skill'],
    ['an upper-case name', entry(valid.replace('pdf', 'PDF')), 'not a name for a skill'],
    ['no source', entry(`name: pdf\ndigest: ${SHA}`), 'source'],
    ['an empty source', entry(`name: pdf\nsource: ""\ndigest: ${SHA}`), 'there is no source'],
    ['no digest', entry('name: pdf\nsource: pdf'), 'digest'],
    ['an upper-case digest', entry(valid.replace(SHA, `sha256:${'A'.repeat(64)}`)), 'the digest'],
    ['a short digest', entry(valid.replace(SHA, 'sha256:abc')), 'the digest'],
    ['a wrong contentDigest', entry(`${valid}\ncontentDigest: ${COMMIT}`), 'the contentDigest'],
    [
      'a reference without a version',
      entry(`${valid}\nresolvedReference: ghcr.io/a/pdf`),
      'the resolvedReference',
    ],
    [
      'a reference with blanks',
      entry(`${valid}\nresolvedReference: "ghcr.io/a/pdf: 1"`),
      'the resolvedReference',
    ],
    [
      'a reference that is too long',
      entry(`${valid}\nresolvedReference: ghcr.io/${'a/'.repeat(300)}pdf:1`),
      'the resolvedReference',
    ],
    [
      'a signer and none',
      entry(`${valid}\nunsigned: true\nprovenance: { signerIdentity: a, certIssuer: b }`),
      'both provenance and unsigned',
    ],
    [
      'a signer without a name',
      entry(`${valid}\nprovenance: { signerIdentity: "", certIssuer: b }`),
      'names no signer',
    ],
    ['a signer without an issuer', entry(`${valid}\nprovenance: { signerIdentity: a }`), 'certIssuer'],
    [
      'a signer of more than 512 bytes',
      entry(`${valid}\nprovenance: { signerIdentity: ${'a'.repeat(513)}, certIssuer: b }`),
      'more than 512 bytes',
    ],
    ['the same name twice', `${entry(valid)}${entry(valid).replace('skills:\n', '')}`, 'there twice'],
    ['an unknown parent', entry(`${valid}\nrequiredBy: [ghost]`), 'which is not there'],
    ['a skill that requires itself', entry(`${valid}\nrequiredBy: [pdf]`), 'required by itself'],
    [
      'a circle',
      `${entry(`${valid}\nrequiredBy: [b]`)}${entry(`name: b\nsource: b\ndigest: ${SHA}\nrequiredBy: [pdf]`).replace('skills:\n', '')}`,
      'required in a circle',
    ],
    ['a version that is no text', entry(`${valid}\nversion: 1.2`), 'version'],
  ])('%s', async (_, text, problem) => {
    const refused = lockOf(text)

    await expect(refused).rejects.toMatchObject({ code: 'skill_lock_invalid', status: 400 })
    await expect(refused).rejects.toThrow(problem)
  })

  test('a link, whatever it leads to', async () => {
    const root = await temporaryFolder()
    await writeFile(join(root, 'elsewhere'), 'version: 1\n')
    await symlink(join(root, 'elsewhere'), join(root, 'keelson.lock.yaml'))

    await expect(readLockFile(root)).rejects.toThrow('not an ordinary file')
  })

  test('the line is named', async () => {
    await expect(lockOf(`version: 1\n${entry(valid.replace('pdf', 'PDF'))}`)).rejects.toThrow('line 3')
  })

  test('a bomb of aliases is not unfolded', async () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
      .split('')
      .map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[i]}`).join(',')}]`)
      .join('\n')}\nskills:\n  - name: pdf\n    source: x\n    digest: ${SHA}\n    extra: *i\n`
    const started = performance.now()

    await lockOf(bomb).catch(() => undefined)

    expect(performance.now() - started).toBeLessThan(5000)
  })
})

describe('writing', () => {
  test('what did not change stays to the byte, comments and unknown members too', async () => {
    const text = `# ours
version: 1
plugins:
  - name: other # of another program
skills:
  # needed for invoices
  - name: pdf
    source: pdf
    digest: ${SHA}
    future: 7 # of a later version
`
    const lock = await lockOf(text)

    expect(lock.withEntries(lock.entries)).toBe(text)
  })

  test('an entry that changes keeps what nobody here knows', async () => {
    const lock = await lockOf(
      `version: 1\nskills:\n  - name: pdf\n    source: pdf\n    digest: ${SHA}\n    future: 7\n`,
    )
    const before = lock.entries.get('pdf')
    if (!before) throw new Error('not read')

    const text = lock.withEntries(new Map([['pdf', { ...before, digest: COMMIT, explicit: true }]]))

    expect(text).toBe(
      `version: 1\nskills:\n  - name: pdf\n    source: pdf\n    digest: ${COMMIT}\n    explicit: true\n    future: 7\n`,
    )
  })

  test('entries are sorted by name, those that left are gone', async () => {
    const { entries, withEntries } = await lockOf(FULL)
    const added = { name: 'zip', source: 'zip', digest: SHA }
    const rest = [...entries.values()].filter(({ name }) => name !== 'pdf')

    const text = withEntries(new Map([added, ...rest].map(one => [one.name, { ...one, requiredBy: [] }])))

    expect([...text.matchAll(/name: (\S+)/g)].map(([, name]) => name)).toEqual(['fonts', 'zip'])
    expect(text).not.toContain('requiredBy')
  })

  test('what was written is read again', async () => {
    const lock = await lockOf(FULL)
    const again = await lockOf(lock.withEntries(lock.entries))

    expect([...again.entries].sort()).toEqual([...lock.entries].sort())
  })
})

test('what would not be read again is not written, and nothing is installed', async () => {
  const made = await skillsHome()
  const signer = { ...ALICE, signerIdentity: `https://x.test/${'a'.repeat(600)}` }
  await made.publish('registry.test/skills/pdf:1', { name: 'pdf', signer })

  const refused = made.installer.install(made.project, { reference: 'registry.test/skills/pdf:1' })

  await expect(refused).rejects.toMatchObject({ code: 'skill_lock_invalid' })
  expect(await made.tree('project')).toEqual({})
})
