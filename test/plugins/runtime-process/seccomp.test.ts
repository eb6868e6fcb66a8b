import { describe, expect, test } from 'vitest'
import { seccompFilter } from '../../../plugins/runtime-process/seccomp/seccomp-filter.ts'
import { AUDIT_ARCH, JUDGED, NEWEST, REFUSED } from '../../../plugins/runtime-process/seccomp/system-calls.ts'

const ALLOW = 'allow'
const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97

/** Runs the filter as the kernel would (classic BPF, the instructions that it uses). */
function judge(architecture: 'x64' | 'arm64', number: number, args: readonly number[] = [], audit?: number) {
  const program = seccompFilter(architecture) as Buffer
  const data = Buffer.alloc(64)
  data.writeUInt32LE(number, 0)
  data.writeUInt32LE(audit ?? AUDIT_ARCH[architecture], 4)
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(BigInt(value), 16 + 8 * index)
  let loaded = 0
  for (let at = 0; at < program.length; at += 8) {
    const code = program.readUInt16LE(at)
    const k = program.readUInt32LE(at + 4)
    if (code === 0x20) loaded = data.readUInt32LE(k)
    else if (code === 0x06) return k === 0x7fff0000 ? ALLOW : k - 0x50000
    else {
      const holds = { 21: loaded === k, 53: loaded >= k, 69: (loaded & k) !== 0 }[code]
      if (holds === undefined) throw new Error(`instruction ${code}`)
      at += 8 * program.readUInt8(at + (holds ? 2 : 3))
    }
  }
  throw new Error('the filter has no end')
}

describe.each([
  ['x64', 0],
  ['arm64', 1],
] as const)('on %s', (architecture, column) => {
  const verdict = (numbers: readonly (number | undefined)[], ...args: number[]) =>
    judge(architecture, numbers[column] ?? Number.NaN, args)

  test.each(Object.entries(REFUSED).filter(([, numbers]) => numbers[column] !== undefined))(
    '%s is refused',
    (_, numbers) => expect(verdict(numbers)).toBe(EPERM),
  )

  test('clone makes processes and threads, but no namespaces; clone3 is not there', () => {
    expect(verdict(JUDGED.clone, 17)).toBe(ALLOW)
    expect(verdict(JUDGED.clone, 0x3d0f00)).toBe(ALLOW) // what pthread_create(3) asks for
    for (let bit = 0; bit < 32; bit++) {
      const isNamespace = [17, 25, 26, 27, 28, 29, 30].includes(bit)
      expect(verdict(JUDGED.clone, 2 ** bit), `bit ${bit}`).toBe(isNamespace ? EPERM : ALLOW)
    }
    expect(verdict(JUDGED.clone3)).toBe(ENOSYS)
  })

  test('of sockets the usual ones are there', () => {
    for (const family of [1, 2, 10, 16]) expect(verdict(JUDGED.socket, family)).toBe(ALLOW)
    for (const family of [0, 15, 17, 38, 40, 44]) expect(verdict(JUDGED.socket, family)).toBe(EAFNOSUPPORT)
  })

  test('a terminal cannot be typed into, whatever stands in the upper half of the argument', () => {
    expect(verdict(JUDGED.ioctl, 0, 0x5413)).toBe(ALLOW)
    for (const request of [0x5412, 0x541c, 2 ** 32 + 0x5412])
      expect(verdict(JUDGED.ioctl, 0, request)).toBe(EPERM)
  })

  test('the personality can be asked for, and randomness of addresses not be switched off', () => {
    expect(verdict(JUDGED.personality, 0xffffffff)).toBe(ALLOW)
    expect(verdict(JUDGED.personality, 0x40000)).toBe(EPERM)
  })

  test('other processors, and calls that nobody here knows, are not there', () => {
    expect(judge(architecture, 39, [], 0x40000003)).toBe(ENOSYS) // AUDIT_ARCH_I386
    expect(judge(architecture, 0x40000000 + 39)).toBe(ENOSYS) // x32
    expect(judge(architecture, NEWEST)).toBe(ALLOW)
    expect(judge(architecture, NEWEST + 1)).toBe(ENOSYS)
  })
})

test('for another processor there is none', () => {
  expect(seccompFilter('riscv64')).toBeUndefined()
})
