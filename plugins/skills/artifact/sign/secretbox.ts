/**
 * Opens a box of NaCl (crypto_secretbox: XSalsa20 and Poly1305), in which cosign keeps its keys and for
 * which Node has no name. Undefined: the key is wrong, or the box was changed.
 */
export function openSecretbox(box: Buffer, nonce: Buffer, key: Buffer): Buffer | undefined {
  if (box.length < 16 || nonce.length !== 24 || key.length !== 32) return undefined
  const subkey = hsalsa20(key, nonce.subarray(0, 16))
  const stream = salsa20(subkey, nonce.subarray(16), box.length + 16)
  const tag = poly1305(box.subarray(16), stream.subarray(0, 32))
  if (!tag.equals(box.subarray(0, 16))) return undefined
  return Buffer.from(box.subarray(16).map((byte, at) => byte ^ (stream[32 + at] ?? 0)))
}

const CONSTANTS = Buffer.from('expand 32-byte k')
const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by))

/** Where the words of key, constants and input stand (Salsa20 specification, section 8). */
function stateOf(key: Buffer, input: Buffer): Int32Array {
  const state = new Int32Array(16)
  for (let word = 0; word < 4; word++) {
    state[word * 5] = CONSTANTS.readInt32LE(word * 4)
    state[1 + word] = key.readInt32LE(word * 4)
    state[6 + word] = input.readInt32LE(word * 4)
    state[11 + word] = key.readInt32LE(16 + word * 4)
  }
  return state
}

/** Columns, then rows. */
const QUARTERS = [
  [0, 4, 8, 12],
  [5, 9, 13, 1],
  [10, 14, 2, 6],
  [15, 3, 7, 11],
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
] as const

function twentyRounds(state: Int32Array): Int32Array {
  const x = Int32Array.from(state)
  const mix = (to: number, a: number, b: number, by: number) => {
    x[to] = (x[to] ?? 0) ^ rotate(((x[a] ?? 0) + (x[b] ?? 0)) | 0, by)
  }
  for (let round = 0; round < 10; round++) {
    for (const [a, b, c, d] of QUARTERS) {
      mix(b, a, d, 7)
      mix(c, b, a, 9)
      mix(d, c, b, 13)
      mix(a, d, c, 18)
    }
  }
  return x
}

/** The key for a nonce that is longer than Salsa20's (Bernstein, "Extending the Salsa20 nonce"). */
function hsalsa20(key: Buffer, input: Buffer): Buffer {
  const mixed = twentyRounds(stateOf(key, input))
  const out = Buffer.alloc(32)
  for (const [at, word] of [0, 5, 10, 15, 6, 7, 8, 9].entries()) out.writeInt32LE(mixed[word] ?? 0, at * 4)
  return out
}

function salsa20(key: Buffer, nonce: Buffer, length: number): Buffer {
  const blocks = Math.ceil(length / 64)
  const out = Buffer.alloc(blocks * 64)
  for (let counter = 0; counter < blocks; counter++) {
    const input = Buffer.alloc(16)
    nonce.copy(input)
    input.writeUInt32LE(counter, 8)
    const state = stateOf(key, input)
    const mixed = twentyRounds(state)
    for (let word = 0; word < 16; word++) {
      out.writeInt32LE(((mixed[word] ?? 0) + (state[word] ?? 0)) | 0, counter * 64 + word * 4)
    }
  }
  return out
}

/** RFC 8439 section 2.5. */
function poly1305(message: Buffer, key: Buffer): Buffer {
  const r = little(key.subarray(0, 16)) & 0x0ffffffc0ffffffc0ffffffc0fffffffn
  const prime = (1n << 130n) - 5n
  let sum = 0n
  for (let at = 0; at < message.length; at += 16) {
    const block = message.subarray(at, at + 16)
    sum = ((sum + little(block) + (1n << BigInt(block.length * 8))) * r) % prime
  }
  const tag = (sum + little(key.subarray(16, 32))) & ((1n << 128n) - 1n)
  return Buffer.from(tag.toString(16).padStart(32, '0'), 'hex').reverse()
}

const little = (bytes: Buffer): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex') || '0'}`)
