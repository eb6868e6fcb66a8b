import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  deriveKey,
  type KeyRecipe,
  newRecipe,
  readRecipe,
  seal,
  unseal,
} from '../../../plugins/secrets/file-format.ts'

const cheap = { log2N: 10, r: 8, p: 1 }
const KEY = Buffer.alloc(32, 9).toString('base64url')

/** What a reader who has the right secret makes of a file: its content, or nothing. */
async function read(bytes: Buffer, secret: string): Promise<string | undefined> {
  let recipe: KeyRecipe
  try {
    recipe = readRecipe(bytes)
  } catch {
    return undefined
  }
  if (recipe.cost.log2N > 12) return undefined // another cost is another key; only slower to find out
  return unseal(bytes, await deriveKey(secret, recipe))?.toString()
}

const ways = [
  ['password', 'correct horse'],
  ['key', KEY],
] as const

test('what is sealed comes back, whatever it is and whatever opens it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), fc.string({ minLength: 1 }), async (bytes, password) => {
      for (const [from, secret] of [['password', password] as const, ['key', KEY] as const]) {
        const recipe = newRecipe(from, cheap)
        const file = seal(Buffer.from(bytes), recipe, await deriveKey(secret, recipe))
        expect(unseal(file, await deriveKey(secret, readRecipe(file)))).toEqual(Buffer.from(bytes))
      }
    }),
    { numRuns: 25 },
  )
})

test.each(ways)('no bit of a file under a %s can change unnoticed', async (from, secret) => {
  const recipe = newRecipe(from, cheap)
  const file = seal(Buffer.from('{"secrets":{"A":"planted"}}'), recipe, await deriveKey(secret, recipe))
  expect(await read(file, secret)).toContain('planted')
  for (let bit = 0; bit < file.length * 8; bit++) {
    const changed = Buffer.from(file)
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    expect(await read(changed, secret), `bit ${bit}`).toBeUndefined()
  }
})

test.each(ways)('random damage to a file under a %s is refused', async (from, secret) => {
  const recipe = newRecipe(from, cheap)
  const file = seal(Buffer.from('{"secrets":{"A":"planted"}}'), recipe, await deriveKey(secret, recipe))
  const damage = fc.array(fc.tuple(fc.nat(file.length - 1), fc.integer({ min: 1, max: 255 })), {
    minLength: 1,
    maxLength: 8,
  })
  await fc.assert(
    fc.asyncProperty(damage, async changes => {
      const changed = Buffer.from(file)
      for (const [at, xor] of changes) changed.writeUInt8(changed.readUInt8(at) ^ xor, at)
      fc.pre(!changed.equals(file))
      expect(await read(changed, secret)).toBeUndefined()
    }),
    { numRuns: 300 },
  )
})

test('a file that is cut off anywhere, or longer than it was, is refused', async () => {
  const recipe = newRecipe('password', cheap)
  const file = seal(Buffer.from('content'), recipe, await deriveKey('pw', recipe))
  for (let length = 0; length < file.length; length++)
    expect(await read(file.subarray(0, length), 'pw')).toBeUndefined()
  expect(await read(Buffer.concat([file, Buffer.from([0])]), 'pw')).toBeUndefined()
})

test('random bytes are no file', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async bytes => {
      expect(await read(Buffer.from(bytes), 'pw')).toBeUndefined()
    }),
  )
})

test.each([
  ['another kind of file', (file: Buffer) => file.fill(0, 0, 8)],
  ['version 2', (file: Buffer) => file.fill(2, 8, 9)],
  ['header is damaged', (file: Buffer) => file.fill(31, 10, 11)],
  ['header is damaged', (file: Buffer) => file.fill(255, 11, 12)],
  ['header is damaged', (file: Buffer) => file.fill(0, 12, 13)],
])('a header says why it is refused, before anything is spent on it: %s', async (words, spoil) => {
  const recipe = newRecipe('password', cheap)
  const file = seal(Buffer.from('content'), recipe, await deriveKey('pw', recipe))

  expect(() => readRecipe(spoil(file))).toThrow(words)
})

test('the same content is never the same file, and holds nothing of it', async () => {
  const recipe = newRecipe('password', cheap)
  const key = await deriveKey('pw', recipe)

  const [one, two] = [seal(Buffer.from('planted'), recipe, key), seal(Buffer.from('planted'), recipe, key)]

  expect(one.equals(two)).toBe(false)
  expect(one.includes('planted')).toBe(false)
})

test('a password that is typed on another keyboard is the same password', async () => {
  const recipe = newRecipe('password', cheap)
  expect(await deriveKey('pass\u0301', recipe)).toEqual(await deriveKey('pas\u015b', recipe))
})

test('an ordinary file costs 128 MiB to try a password on', () => {
  expect(newRecipe('password').cost).toEqual({ log2N: 17, r: 8, p: 1 })
})
