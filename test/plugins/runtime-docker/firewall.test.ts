import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { createFirewall } from '../../../plugins/runtime-docker/isolation/firewall.ts'
import { createFirewallWatchdog } from '../../../plugins/runtime-docker/isolation/firewall-watchdog.ts'
import { createLog } from '../../../src/log.ts'
import { needs } from '../../support/left-out.ts'

const table = (...args: string[]) =>
  spawnSync('iptables', ['--wait', '10', '-t', 'mangle', ...args], {
    encoding: 'utf8',
    env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
  })
const isAllowed = table('-S', 'PREROUTING').status === 0
const problem = isAllowed ? undefined : 'this user may not change the firewall'

/** A firewall of an owner that nobody else has. */
function firewallOf() {
  const owner = randomBytes(8).toString('hex')
  const firewall = createFirewall({ owner, env: process.env })
  const rules = () =>
    table('-S')
      .stdout.split('\n')
      .filter(rule => rule.includes(owner))
  return { owner, firewall, rules }
}
const rule = { network: 'keelson-t-one', bridge: 'kt-none0', gateway: '10.254.254.1', port: 3128 }

test('rules go up once, however often they are applied, and go with the network', async context => {
  needs(context, problem)
  const { firewall, rules, owner } = firewallOf()
  onTestFinished(() => firewall.remove(rule.network))
  expect(await firewall.problem()).toBeUndefined()
  expect(await firewall.apply(rule)).toBeUndefined()
  expect(await firewall.apply({ ...rule, port: 4000 })).toBeUndefined()
  const [jump, ...others] = rules()
  expect(others).toEqual([])
  expect(jump).toContain('-i kt-none0')
  const chain = /-j (\S+)/.exec(jump ?? '')?.[1] ?? ''
  expect(
    table('-S', chain)
      .stdout.split('\n')
      .filter(line => line.startsWith('-A')),
  ).toEqual([
    expect.stringContaining('--ctstate ESTABLISHED -j ACCEPT'),
    expect.stringMatching(/-d 10\.254\.254\.1\/32 -p tcp .*--dport 4000 -j ACCEPT/),
    expect.stringMatching(/ -j DROP$/),
  ])
  expect(await firewall.list()).toEqual([rule.network])

  await firewall.remove(rule.network)
  await firewall.remove(rule.network)
  expect(await firewall.list()).toEqual([])
  expect(table('-S').stdout).not.toContain(owner)
  expect(table('-S').stdout).not.toContain(chain)
})

test('rules of others stay, a chain that lost its jump goes', async context => {
  needs(context, problem)
  const mine = firewallOf()
  const others = firewallOf()
  onTestFinished(() => others.firewall.remove(rule.network))
  await mine.firewall.apply(rule)
  await others.firewall.apply(rule)
  const [jump = ''] = mine.rules()
  table('-D', ...(jump.slice(3).match(/"[^"]*"|\S+/g) ?? []).map(word => word.replaceAll('"', '')))
  await mine.firewall.remove(rule.network)
  expect(table('-S').stdout).not.toContain(/-j (\S+)/.exec(jump)?.[1])
  expect(others.rules()).toHaveLength(1)
})

test('without iptables the reason is returned', async () => {
  const firewall = createFirewall({ owner: 'x', env: {}, folders: [] })
  expect(await firewall.problem()).toBe('iptables is not installed')
  expect(await firewall.apply(rule)).toBe('iptables-restore is not installed')
  await firewall.remove(rule.network)
  expect(await firewall.list()).toEqual([])
})

test('rules of which anything has been flushed are missing, complete ones are not', async context => {
  needs(context, problem)
  const { firewall, owner } = firewallOf()
  const rules = ['a', 'b', 'c'].map(name => ({
    ...rule,
    network: `keelson-t-${name}`,
    bridge: `kt-${name}0`,
  }))
  onTestFinished(async () => {
    for (const { network } of rules) await firewall.remove(network)
  })
  for (const one of rules) await firewall.apply(one)
  expect(await firewall.missing(rules)).toEqual([])

  const jumps = table('-S', 'PREROUTING')
    .stdout.split('\n')
    .filter(line => line.includes(owner))
  const chainOf = (bridge: string) =>
    /-j (\S+)/.exec(jumps.find(line => line.includes(bridge)) ?? '')?.[1] ?? ''
  table('-F', chainOf('kt-a0'))
  const jump = ['-i', 'kt-b0', '-m', 'comment', '--comment', `keelson ${owner} keelson-t-b`]
  table('-D', 'PREROUTING', ...jump, '-j', chainOf('kt-b0'))
  expect((await firewall.missing(rules)).map(({ network }) => network)).toEqual([
    'keelson-t-a',
    'keelson-t-b',
  ])
})

test('rules that somebody flushes come back, and stay away once their network is gone', async context => {
  needs(context, problem)
  const { firewall, owner } = firewallOf()
  onTestFinished(() => firewall.remove(rule.network))
  const said: string[] = []
  const log = createLog({ human: false, debug: false, write: line => said.push(JSON.parse(line).msg) })
  const watchdog = createFirewallWatchdog({ firewall, log, everyMs: 50 })
  await firewall.apply(rule)
  watchdog.add(rule)
  const jump = () =>
    table('-S', 'PREROUTING')
      .stdout.split('\n')
      .find(line => line.includes(owner))
  const chain = /-j (\S+)/.exec(jump() ?? '')?.[1] ?? ''

  table('-F', chain)
  await expect.poll(() => table('-S', chain).stdout).toContain('DROP')
  await expect.poll(() => said).toEqual(['The firewall rules of a network were gone; they are back.'])

  watchdog.delete(rule.network)
  await firewall.remove(rule.network)
  await expect.poll(jump).toBeUndefined() // a look under way takes its own away again
})
