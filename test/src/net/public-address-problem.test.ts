import { networkInterfaces } from 'node:os'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { publicAddressProblem } from '../../../src/net/public-address-problem.ts'

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '168.63.129.16', // metadata of a cloud, though the network is public
  '192.88.99.1', // 6to4 relays
  '100.64.0.1',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  'fe80::1',
  'fe80::1%eth0',
  'fc00::1',
  'fd12::1',
  'ff02::1',
  '3fff::1', // documentation
  '4000::1', // not assigned to anybody
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:168.63.129.16',
  '::127.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::808:808',
  '2002:c0a8:0101::1',
  '2002:0808:0808::1', // a tunnel, wherever it leads
  '2001:0:808:808::1',
  '2001:db8::1',
  '[::1]',
  '0x7f.1',
  '2130706433',
  '017700000001',
  'localhost',
  '',
  '1.2.3.4.5',
])('%s is not a place on the internet', address => {
  expect(publicAddressProblem(address)).toBeDefined()
})

test.each([
  '1.1.1.1',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700::1111',
  '[2606:4700::1111]',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
])('%s is a place on the internet', address => {
  expect(publicAddressProblem(address)).toBeUndefined()
})

test('an IPv4 address is judged alike when it is written inside an IPv6 one', () => {
  fc.assert(
    fc.property(fc.ipV4(), address => {
      expect(publicAddressProblem(`::ffff:${address}`)).toBe(publicAddressProblem(address))
      expect(publicAddressProblem(`64:ff9b::${address}`)).toBe(publicAddressProblem(address))
    }),
  )
})

test('no address of this machine counts as public', () => {
  const own = Object.values(networkInterfaces()).flatMap(list => (list ?? []).map(({ address }) => address))
  expect(own).not.toEqual([])
  expect(own.filter(address => publicAddressProblem(address) === undefined)).toEqual([])
})
