import {
  type Architecture,
  AUDIT_ARCH,
  JUDGED,
  NAMESPACE_FLAGS,
  NEWEST,
  type Numbers,
  PERSONALITIES,
  REFUSED,
  SOCKET_FAMILIES,
  TERMINAL_REQUESTS,
} from './system-calls.ts'

/** One instruction of classic BPF: `struct sock_filter` of linux/filter.h. */
type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, k: number]

const ALLOW: Instruction = [0x06, 0, 0, 0x7fff0000]
/** Returns an error to the caller (errno(3)). */
const fail = (errno: number): Instruction => [0x06, 0, 0, 0x00050000 | errno]
const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97

/** `struct seccomp_data`: the call's number, the processor, then six arguments of 8 bytes. */
const load = (offset: number): Instruction => [0x20, 0, 0, offset]
const NUMBER = load(0)
const ARCHITECTURE = load(4)
/** The lower half of an argument, on little-endian processors; the calls judged here look at no more of it. */
const argument = (index: number): Instruction => load(16 + 8 * index)

type Test = 'equal' | 'atLeast' | 'anyBit'
const CODES: Readonly<Record<Test, number>> = { equal: 0x15, atLeast: 0x35, anyBit: 0x45 }
/** Runs the instructions if the test holds, and else skips them. */
const when = (test: Test, k: number, then: readonly Instruction[]): Instruction[] => [
  [CODES[test], 0, then.length, k],
  ...then,
]

/**
 * The seccomp filter (seccomp(2)) of sandboxed servers as bubblewrap takes it, or undefined for processors
 * that it is not made for. Refused calls fail with EPERM; what a program must expect to be missing, with ENOSYS.
 */
export function seccompFilter(architecture: string = process.arch): Buffer | undefined {
  if (architecture !== 'x64' && architecture !== 'arm64') return undefined
  return assemble(programOf(architecture))
}

function programOf(architecture: Architecture): Instruction[] {
  const numberOf = ([x64, arm64]: Numbers) => (architecture === 'x64' ? x64 : arm64)
  const on = (call: Numbers, then: readonly Instruction[]) => {
    const number = numberOf(call)
    return number === undefined ? [] : when('equal', number, then)
  }
  const oneOf = (values: readonly number[], then: Instruction) =>
    values.flatMap(value => when('equal', value, [then]))
  return [
    // Programs of other processors, such as 32-bit ones, have other numbers.
    ARCHITECTURE,
    [CODES.equal, 1, 0, AUDIT_ARCH[architecture]],
    fail(ENOSYS),
    NUMBER,
    // x32, the third set of numbers on x86, begins far above.
    ...when('atLeast', NEWEST + 1, [fail(ENOSYS)]),
    // Its flags lie in memory, where a filter cannot look; libraries use clone instead.
    ...on(JUDGED.clone3, [fail(ENOSYS)]),
    ...on(JUDGED.clone, [argument(0), ...when('anyBit', NAMESPACE_FLAGS, [fail(EPERM)]), ALLOW]),
    ...on(JUDGED.ioctl, [argument(1), ...oneOf(TERMINAL_REQUESTS, fail(EPERM)), ALLOW]),
    ...on(JUDGED.socket, [argument(0), ...oneOf(SOCKET_FAMILIES, ALLOW), fail(EAFNOSUPPORT)]),
    ...on(JUDGED.personality, [argument(0), ...oneOf(PERSONALITIES, ALLOW), fail(EPERM)]),
    ...Object.values(REFUSED).flatMap(call => on(call, [fail(EPERM)])),
    ALLOW,
  ]
}

function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  for (const [index, [code, jumpTrue, jumpFalse, k]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(jumpTrue, index * 8 + 2)
    bytes.writeUInt8(jumpFalse, index * 8 + 3)
    bytes.writeUInt32LE(k >>> 0, index * 8 + 4)
  }
  return bytes
}
