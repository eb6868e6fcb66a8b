import { TrustedRoot } from '@sigstore/protobuf-specs'
import { toTrustMaterial } from '@sigstore/verify'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readDer, readMembers } from '../../../plugins/image-verification/der.ts'
import { verifyDetached } from '../../../plugins/image-verification/verify-detached.ts'
import { testSigstore } from '../../support/sigstore.ts'
import { signDetached } from '../skill-sources/sign-commit.ts'

const content = Buffer.from('what was signed')
const maker = { identity: 'me@example.com', issuer: 'https://accounts.example.com' }

test('a signature in which any byte is changed, cut or added does not verify as somebody else', async () => {
  const sigstore = await testSigstore()
  const material = toTrustMaterial(TrustedRoot.fromJSON(sigstore.trustRoot))
  const verify = (bytes: Buffer) => verifyDetached(bytes, content, { material, isGithub: false })
  const signature = await signDetached(sigstore, content, maker)
  const whole = verify(signature)
  expect(whole).toMatchObject({ ok: true })
  let refused = 0

  fc.assert(
    fc.property(
      fc.nat(signature.length - 1),
      fc.nat(3),
      fc.uint8Array({ maxLength: 3 }),
      (at, count, piece) => {
        const changed = Buffer.concat([signature.subarray(0, at), piece, signature.subarray(at + count)])
        const result = verify(changed)
        if (result.ok) expect(result).toEqual(whole)
        else {
          expect(result.problem).toMatch(/^a signature (does not hold|is for something else)/)
          refused++
        }
      },
    ),
    { numRuns: 2000 },
  )

  expect(refused).toBeGreaterThan(1000)
})

/** Random values as DER, nested, with the bytes that they must be read back as. */
const { tree } = fc.letrec<{ tree: Buffer }>(tie => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.uint8Array({ maxLength: 300 }).map(bytes => encode(0x04, Buffer.from(bytes))),
    fc.array(tie('tree'), { maxLength: 4 }).map(members => encode(0x30, Buffer.concat(members))),
  ),
}))

function encode(tag: number, bytes: Buffer): Buffer {
  const { length } = bytes
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), bytes])
}

test('DER is read back as it was written, and never past its end', () => {
  fc.assert(
    fc.property(tree, fc.uint8Array({ maxLength: 5 }), (bytes, more) => {
      expect(readDer(Buffer.concat([bytes, more])).whole.equals(bytes)).toBe(true)
      const value = readDer(bytes)
      if (value.tag === 0x30) {
        expect(Buffer.concat(readMembers(value).map(({ whole }) => whole)).equals(value.content)).toBe(true)
      }
      expect(() => readDer(bytes.subarray(0, -1))).toThrow(/not DER|cut off/)
    }),
    { numRuns: 1000 },
  )
})
