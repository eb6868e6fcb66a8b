import { execFileSync } from 'node:child_process'
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkTree } from '../../../../plugins/skill-artifacts/format/check-tree.ts'
import { contentDigest } from '../../../../plugins/skill-artifacts/format/content-digest.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const MIB = 1024 * 1024
const write = (folder: string, path: string | Buffer, text = '') =>
  writeFile(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path)]), text)

test('ordinary files in ordinary folders are fine, hidden ones too', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, '.config/größe'), { recursive: true })
  await write(folder, '.config/größe/a b.md')

  await checkTree(folder)
})

describe('is refused:', () => {
  test.each<[string, (folder: string) => unknown, RegExp]>([
    ['a link', folder => symlink('/etc/passwd', join(folder, 'a')), /"a" is refused: it is a link/],
    ['a link to a folder', folder => symlink('.', join(folder, 'a')), /it is a link/],
    ['a link to nothing', folder => symlink('nowhere', join(folder, 'a')), /it is a link/],
    ['a pipe', folder => execFileSync('mkfifo', [join(folder, 'a')]), /neither a file nor a folder/],
    ['a repository', folder => mkdir(join(folder, '.git')), /git repository/],
    ['a pointer to a repository', folder => write(folder, '.GIT'), /git repository/],
    ['a backslash', folder => write(folder, 'a\\b'), /backslash/],
    ['a line feed', folder => write(folder, 'a\nb'), /control characters/],
    ['a name that is not UTF-8', folder => write(folder, Buffer.from([0x61, 0xff])), /not UTF-8/],
    ['a drive', folder => write(folder, 'C:a'), /absolute/],
    [
      'names that differ in case',
      async folder => [await write(folder, 'a'), await write(folder, 'A')],
      /same as/,
    ],
    [
      'a file that is too large',
      async folder => [await write(folder, 'a'), await truncate(join(folder, 'a'), 101 * MIB)],
      /larger than 100 MiB/,
    ],
    [
      'too much altogether',
      async folder => {
        for (let i = 0; i < 6; i++)
          await write(folder, `f${i}`).then(() => truncate(join(folder, `f${i}`), 90 * MIB))
      },
      /more than 500 MiB/,
    ],
    [
      'too many files',
      async folder => {
        for (let i = 0; i < 1001; i++) await write(folder, `f${i}`)
      },
      /more than 1000 files/,
    ],
    [
      'folders nested without end',
      folder => mkdir(join(folder, ...Array(70).fill('d')), { recursive: true }),
      /nested too deep/,
    ],
  ])('%s', async (_, make, message) => {
    const folder = await temporaryFolder()
    await make(folder)

    await expect(checkTree(folder)).rejects.toMatchObject({
      code: 'skill_tree_refused',
      message: expect.stringMatching(message),
    })
  })

  test('a file in place of the folder', async () => {
    const folder = await temporaryFolder()
    await write(folder, 'file')

    await expect(checkTree(join(folder, 'file'))).rejects.toMatchObject({ code: 'skill_tree_refused' })
    await expect(checkTree(join(folder, 'nothing'))).rejects.toMatchObject({ code: 'skill_tree_refused' })
  })
})

describe('a content digest', () => {
  test('is that of the lock files: path, NUL, hash and line feed of each file in order', async () => {
    const folder = await temporaryFolder()
    await mkdir(join(folder, 'b'))
    await write(folder, 'b/a.md', 'two')
    await write(folder, 'SKILL.md', 'one')

    // printf 'SKILL.md\0'; sha256 of "one"; "\n"; then the same of b/a.md, through sha256sum
    const expected = execFileSync('sh', [
      '-c',
      `cd ${folder}
      hash() { printf '%s\\000' "$1"; sha256sum "$1" | cut -c1-64 | xxd -r -p; printf '\\n'; }
      { hash SKILL.md; hash b/a.md; } | sha256sum | cut -c1-64`,
    ])
    expect(await contentDigest(folder)).toBe(`sha256:${expected.toString().trim()}`)
  })

  test('does not see links, modes and empty folders', async () => {
    const folder = await temporaryFolder()
    await write(folder, 'a', 'x')
    const before = await contentDigest(folder)
    await symlink('a', join(folder, 'link'))
    await mkdir(join(folder, 'empty'))
    execFileSync('chmod', ['755', join(folder, 'a')])

    expect(await contentDigest(folder)).toBe(before)
  })

  test('differs for other contents, names and places', async () => {
    const digests = new Set<string>()
    for (const [path, text] of [
      ['a', 'x'],
      ['a', 'y'],
      ['b', 'x'],
      ['d/a', 'x'],
      ['.a', 'x'],
    ] as const) {
      const folder = await temporaryFolder()
      await mkdir(join(folder, 'd'))
      await write(folder, path, text)
      digests.add(await contentDigest(folder))
    }

    expect(digests.size).toBe(5)
  })
})
