import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Resolve } from '../../../plugins/egress/decision.ts'
import { parseAddress } from '../../../src/net/address.ts'
import { kindOf } from '../../../src/net/special-addresses.ts'
import { corpusNames, corpusProfile, type EscapeWorld, escapeCorpus } from './corpus.ts'
import { egressWorld, sendGet, sendRaw, statusOf, webServer } from './egress-world.ts'

/** Answers as a name server does that changes its mind between look-ups. */
function fickle(names: Readonly<Record<string, readonly (readonly string[])[]>>): Resolve {
  const times = new Map<string, number>()
  return async name => {
    const answers = names[name] ?? []
    const time = times.get(name) ?? 0
    times.set(name, time + 1)
    return answers[Math.min(time, answers.length - 1)] ?? []
  }
}

const world: EscapeWorld = {
  allowed: { host: '127.0.0.1', port: 1 },
  gateway: '172.30.0.1',
  otherWorkload: '172.30.9.2',
  listener: { host: '172.30.0.1', port: 3128 },
  otherListener: { host: '172.30.9.1', port: 3128 },
  hostAddress: '203.0.114.7',
}

test('the corpus has its size, and no title twice', () => {
  const titles = escapeCorpus(world).map(({ title }) => title)
  expect(titles.length).toBeGreaterThanOrEqual(80)
  expect(new Set(titles).size).toBe(titles.length)
})

test.each(escapeCorpus(world).map(({ title }, index) => [title, index] as const))(
  'escape: %s',
  async (_, index) => {
    const web = await webServer()
    const here: EscapeWorld = { ...world, allowed: { host: '127.0.0.1', port: web.port } }
    const attempt = escapeCorpus(here)[index]
    if (!attempt) throw new Error('no such case')
    const { port, dialled } = await egressWorld(corpusProfile(here), {
      resolve: fickle(corpusNames(here)),
      policy: { gateways: [here.gateway] },
      own: [here.hostAddress, '127.0.0.1', '::1'],
    })

    const { request } = attempt
    const answer =
      'raw' in request
        ? await sendRaw(port, request.raw, { end: true })
        : request.method === 'GET'
          ? await sendGet(port, request.url)
          : await sendRaw(port, `CONNECT ${request.url} HTTP/1.1\r\nHost: ${request.url}\r\n\r\n`, {
              end: true,
            })

    if (attempt.expect === 'allowed') {
      expect(statusOf(answer)).toBe(200)
      expect(dialled).toEqual([here.allowed].map(({ host, port }) => ({ address: host, port })))
    } else {
      expect(dialled).toEqual([])
      expect(web.seen).toEqual([])
      expect(statusOf(answer)).toBeGreaterThanOrEqual(400)
    }
  },
)

const part = (value: number): fc.Arbitrary<string> =>
  fc.constantFrom(String(value), `0x${value.toString(16)}`, `0${value.toString(8)}`)

/** One IPv4 address in any of its notations. */
const spelled = (bits: number): fc.Arbitrary<string> => {
  const bytes = [24, 16, 8, 0].map(shift => (bits >>> shift) & 255)
  const [a = 0, b = 0] = bytes
  const hex = `${(bits >>> 16).toString(16)}:${(bits & 0xffff).toString(16)}`
  return fc
    .oneof(
      fc.tuple(...bytes.map(part)).map(parts => parts.join('.')),
      fc.tuple(part(a), part(bits & 0xffffff)).map(parts => parts.join('.')),
      fc.tuple(part(a), part(b), part(bits & 0xffff)).map(parts => parts.join('.')),
      part(bits),
      fc.constantFrom(
        `[::ffff:${bytes.join('.')}]`,
        `[::FFFF:${hex}]`,
        `[::${hex}]`,
        `[::ffff:0:${hex}]`,
        `[64:ff9b::${hex}]`,
        `[64:ff9b:1::${hex}]`,
        `[2002:${hex}::1]`,
        `[2001:0:${hex}::1]`,
      ),
    )
    .chain(text => fc.constantFrom(text, text.startsWith('[') ? text : `${text}.`))
}

/** The denied IPv4 ranges, told apart from the code: network and number of free bits. */
const DENIED: readonly (readonly [network: number, bits: number])[] = [
  [0x00000000, 24],
  [0x0a000000, 24],
  [0x64400000, 22],
  [0x7f000000, 24],
  [0xa9fe0000, 16],
  [0xac100000, 20],
  [0xc0000000, 8],
  [0xc0a80000, 16],
  [0xc6120000, 17],
  [0xe0000000, 28],
  [0xf0000000, 28],
]
const deniedBits = fc
  .constantFrom(...DENIED)
  .chain(([network, bits]) => fc.integer({ min: 0, max: 2 ** bits - 1 }).map(low => (network + low) >>> 0))

test('no address of a denied range is ever connected to, whatever its notation', async () => {
  const { port, dialled, events } = await egressWorld(
    { network: { outbound: { insecure_allow_all: true } } },
    {},
  )
  await fc.assert(
    fc.asyncProperty(deniedBits.chain(spelled), async host => {
      const before = events.length
      const answer = await sendRaw(port, `CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n\r\n`, {
        end: true,
      })
      expect(statusOf(answer)).toBe(403)
      expect(events.slice(before)).toMatchObject([{ allowed: false }])
      expect(dialled).toEqual([])
    }),
    { numRuns: 300 },
  )
})

test('no name that resolves to such an address is connected to, alone or among others', async () => {
  let answer: string[] = []
  const { port, dialled } = await egressWorld(undefined, { resolve: async () => answer })
  const resolved = deniedBits.chain(spelled).map(text => text.replace(/^\[|\]$/g, ''))
  await fc.assert(
    fc.asyncProperty(resolved, fc.boolean(), async (address, isMixed) => {
      answer = isMixed ? ['93.184.216.34', address] : [address]
      const reply = await sendGet(port, 'http://name.test/')
      expect(statusOf(reply)).toBe(403)
      expect(dialled).toEqual([])
    }),
    { numRuns: 200 },
  )
})

test('every notation of an IPv4 address is read as that address, or carries it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 32 - 1 }).chain(bits => fc.tuple(fc.constant(bits), spelled(bits))),
      ([bits, text]) => {
        const address = parseAddress(text.replace(/^\[|[\].]+$/g, ''))
        if (address?.family === 4) expect(address.bits).toBe(BigInt(bits))
        else expect(address && (kindOf(address) ?? text.includes('ff9b::'))).toBeTruthy()
      },
    ),
  )
})

test('every IPv6 address has one spelling, which is read as the same address', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), fc.ipV6(), (bits, other) => {
      const groups = Array.from({ length: 8 }, (_, i) =>
        ((bits >> BigInt(112 - 16 * i)) & 0xffffn).toString(16),
      )
      for (const text of [groups.join(':'), other]) {
        const address = parseAddress(text)
        expect(address && parseAddress(address.text)).toEqual(address)
      }
    }),
  )
})
