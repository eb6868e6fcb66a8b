import { readdirSync } from 'node:fs'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { create } from 'tar'
import { describe, expect, test } from 'vitest'
import { extractSkill } from '../../../../plugins/skill-artifacts/format/extract-skill.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { archiveOf, extended, good, member, SKILL, tar } from './archive.ts'
import { hostileArchives } from './hostile-archives.ts'

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()

async function unpacked(bytes: Buffer): Promise<string> {
  const folder = join(await temporaryFolder(), 'skill')
  await extractSkill(await archiveOf(bytes), folder)
  return folder
}

describe('is refused, with nothing left behind:', () => {
  test.each(hostileArchives.map(hostile => [hostile.what, hostile] as const))('%s', async (_, hostile) => {
    const around = await temporaryFolder()
    const archive = await archiveOf(hostile.bytes, { packed: hostile.packed ?? false })

    await expect(extractSkill(archive, join(around, 'deep', 'skill'))).rejects.toMatchObject({
      code: 'skill_archive_refused',
      status: 422,
      message: expect.stringMatching(hostile.says),
    })
    expect(readdirSync(around)).toEqual([])
  })
})

test('there are enough hostile archives, each another', () => {
  expect(hostileArchives.length).toBeGreaterThanOrEqual(60)
  expect(new Set(hostileArchives.map(({ what }) => what)).size).toBe(hostileArchives.length)
})

test('what a good archive holds comes out byte by byte', async () => {
  const bytes = Buffer.from(Array.from({ length: 700_000 }, (_, i) => (i * 7919) % 256))
  const folder = await unpacked(tar(good, member({ path: 'assets/data.bin', content: bytes })))

  expect(filesOf(folder)).toEqual(['SKILL.md', 'assets/data.bin'])
  expect(await readFile(join(folder, 'SKILL.md'), 'utf8')).toBe(SKILL)
  expect((await readFile(join(folder, 'assets/data.bin'))).equals(bytes)).toBe(true)
})

test('files are never executable, folders are for their owner and group', async () => {
  const folder = await unpacked(tar(good, member({ path: 'scripts/run.sh', content: 'x' })))

  expect((await stat(join(folder, 'scripts/run.sh'))).mode & 0o777).toBe(0o644)
  expect((await stat(join(folder, 'scripts'))).mode & 0o777).toBe(0o750)
})

test.each([
  ['in an extended header', (path: string) => extended({ path })],
  ["in GNU's way", (path: string) => member({ path: '././@LongLink', type: 'L', content: `${path}\0` })],
])('a long name %s is read', async (_, header) => {
  const path = `references/${'long-'.repeat(40)}.md`
  const folder = await unpacked(tar(good, header(path), member({ path: 'cut', content: 'text' })))

  expect(await readFile(join(folder, path), 'utf8')).toBe('text')
})

test('a name in two parts is read', async () => {
  const folder = await unpacked(tar(good, member({ path: 'b.md', prefix: 'references/a', content: 'text' })))

  expect(await readFile(join(folder, 'references/a/b.md'), 'utf8')).toBe('text')
})

test('an archive of GNU format, of old tar and with folders of its own is read', async () => {
  const folder = await unpacked(
    tar(
      member({ path: './', type: '5' }),
      member({ path: './SKILL.md', content: SKILL, magic: 'ustar  ' }),
      member({ path: './docs/', type: '5' }),
      member({ path: './docs/old', type: '\0', magic: '', content: 'old' }),
      member({ path: './docs/folder/', type: '0', magic: '' }),
    ),
  )

  expect(filesOf(folder)).toEqual(['SKILL.md', 'docs/old'])
})

test('the comment that git archive writes for all files is passed over', async () => {
  expect(filesOf(await unpacked(tar(extended({ comment: 'a'.repeat(40) }, 'g'), good)))).toEqual(['SKILL.md'])
})

test('an archive of several gzip members is read', async () => {
  const bytes = tar(good)
  const parts = [bytes.subarray(0, 700), bytes.subarray(700)].map(part => gzipSync(part))
  const folder = join(await temporaryFolder(), 'skill')
  await extractSkill(await archiveOf(Buffer.concat(parts), { packed: true }), folder)

  expect(filesOf(folder)).toEqual(['SKILL.md'])
})

test('what the tar package writes is read', async () => {
  const source = await temporaryFolder()
  const name = `${'ä'.repeat(60)}.md`
  await mkdir(join(source, 'docs'))
  await writeFile(join(source, 'SKILL.md'), SKILL)
  await writeFile(join(source, 'docs', name), 'umlauts')
  const archive = join(await temporaryFolder(), 'a.tgz')
  await create({ file: archive, cwd: source, gzip: true }, ['.'])
  const folder = join(await temporaryFolder(), 'skill')
  await extractSkill(archive, folder)

  expect(filesOf(folder)).toEqual(['SKILL.md', `docs/${name}`])
})

describe('limits', () => {
  const limited = async (bytes: Buffer, limits: object) => {
    const around = await temporaryFolder()
    const result = await extractSkill(await archiveOf(bytes), join(around, 's'), { limits }).then(
      () => 'fine',
      error => error.message,
    )
    return { result, left: readdirSync(around) }
  }

  test('hold for the packed archive', async () => {
    expect(await limited(tar(good), { archiveBytes: 20 })).toEqual({
      result: expect.stringContaining('larger than'),
      left: [],
    })
  })

  test('hold for all files together', async () => {
    const two = tar(
      good,
      member({ path: 'a', content: 'x'.repeat(100) }),
      member({ path: 'b', content: 'x' }),
    )
    expect(await limited(two, { totalBytes: SKILL.length + 100 })).toEqual({
      result: expect.stringContaining('unpacked it is larger'),
      left: [],
    })
  })

  test('leave what is just within them alone', async () => {
    expect(await limited(tar(good), { totalBytes: SKILL.length, fileBytes: SKILL.length, files: 1 })).toEqual(
      {
        result: 'fine',
        left: ['s'],
      },
    )
  })
})

test('a folder that is not empty is left as it is', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'mine'), 'mine')

  await expect(extractSkill(await archiveOf(tar(good)), folder)).rejects.toMatchObject({
    code: 'file_unwritable',
  })
  expect(filesOf(folder)).toEqual(['mine'])
})

test('a place that cannot be written is a failure that names it', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'file')
  await writeFile(file, '')

  for (const target of [file, join(file, 'skill')]) {
    await expect(extractSkill(await archiveOf(tar(good)), target)).rejects.toMatchObject({
      code: 'file_unwritable',
      message: expect.stringContaining(target),
    })
  }
})

test('an empty folder that was there is empty again after a failure', async () => {
  const folder = await temporaryFolder()
  const archive = await archiveOf(tar(good, member({ path: '../evil' })))

  await expect(extractSkill(archive, folder)).rejects.toMatchObject({ code: 'skill_archive_refused' })
  expect(readdirSync(folder)).toEqual([])
})

test('an interrupted extraction leaves nothing', async () => {
  const around = await temporaryFolder()
  const archive = await archiveOf(tar(good, member({ path: 'a', content: Buffer.alloc(1_000_000, 'text ') })))
  const trial = extractSkill(archive, join(around, 's'), { signal: AbortSignal.abort(new Error('stop')) })

  await expect(trial).rejects.toThrow()
  expect(readdirSync(around)).toEqual([])
})
