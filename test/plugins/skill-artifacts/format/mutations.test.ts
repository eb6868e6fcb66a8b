import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { extractSkill } from '../../../../plugins/skill-artifacts/format/extract-skill.ts'
import { parseSkill } from '../../../../plugins/skill-artifacts/format/parse-skill.ts'
import { isFailure } from '../../../../src/errors.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { archiveOf, extended, good, member, SKILL, tar } from './archive.ts'

/** Bytes with some of them changed, and the end cut off now and then. */
const mutated = (bytes: Buffer) =>
  fc
    .tuple(
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
      fc.oneof(
        { weight: 4, arbitrary: fc.constant(bytes.length) },
        { weight: 1, arbitrary: fc.nat(bytes.length) },
      ),
    )
    .map(([changes, length]) => {
      const changed = Buffer.from(bytes)
      for (const [at, byte] of changes) changed[at] = byte
      return changed.subarray(0, length)
    })

const archive = tar(
  good,
  extended({ path: 'references/a long name.md' }),
  member({ path: 'a', content: 'text' }),
  member({ path: 'docs/', type: '5' }),
)

test.each([
  ['an archive', archive, false],
  ['a packed archive', gzipSync(archive), true],
])(
  '%s with wrong bytes is unpacked inside its folder or refused, without a trace',
  async (_, bytes, packed) => {
    await fc.assert(
      fc.asyncProperty(mutated(bytes), async changed => {
        const around = await temporaryFolder()
        const folder = join(around, 'in', 'skill')
        const path = await archiveOf(changed, { packed })
        const error = await extractSkill(path, folder).catch((problem: unknown) => problem)
        if (error !== undefined) expect(isFailure(error, 'skill_archive_refused'), String(error)).toBe(true)
        expect(readdirSync(around)).toEqual(error === undefined ? ['in'] : [])
        expect(existsSync(folder)).toBe(error === undefined)
      }),
      { numRuns: 150 },
    )
  },
)

test('a SKILL.md with wrong bytes is read or refused', () => {
  const rich = `---\nname: demo\ndescription: >-\n  a\n  b\nallowed-tools: [a, "b c"]\nmetadata: {a: b}\n---\n${SKILL}`
  fc.assert(
    fc.property(mutated(Buffer.from(rich)), changed => {
      try {
        expect(parseSkill(changed).manifest.name).toMatch(/^[a-z0-9-]{1,64}$/)
      } catch (error) {
        if (!isFailure(error, 'skill_invalid')) throw error
        expect(error.message).toMatch(/^SKILL\.md, line \d+: /)
      }
    }),
    { numRuns: 3000 },
  )
})
