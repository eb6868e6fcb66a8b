import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { delimiter } from 'node:path'
import { findOnPath } from '../../../src/lib/find-on-path.ts'

/** What one isolated network may do: reach the egress proxy, and reply to connections that this host has opened. */
export interface FirewallRule {
  /** Name of the network: unique on this host. */
  readonly network: string
  /** Name of its bridge. */
  readonly bridge: string
  readonly gateway: string
  readonly port: number
}

/**
 * Keeps isolated instances from the services of this host. An internal network of an engine stops packets
 * that would pass through this host, and lets through those to this host itself.
 *
 * The rules are in the mangle table. Packets pass it before any address is rewritten, so the rules also cover
 * published ports of other containers. Engines do not change that table.
 */
export interface Firewall {
  /** Why no rules can be set here; undefined when they can. */
  problem(): Promise<string | undefined>
  /**
   * Sets the rules in one step. Returns undefined, or why they cannot be set. A new network has no rules to
   * replace. Rules left by an earlier network of that name do no harm, and `remove` deletes them.
   */
  apply(rule: FirewallRule, options?: { isNew?: boolean }): Promise<string | undefined>
  /** Idempotent. */
  remove(network: string): Promise<void>
  /** Returns the networks that have rules of this owner. */
  list(): Promise<readonly string[]>
  /** Returns the networks whose rules are no longer complete. */
  missing(rules: readonly FirewallRule[]): Promise<readonly FirewallRule[]>
}

const TIMEOUT_MS = 20_000
/** In bytes. */
const MOST_OUTPUT = 64 * 2 ** 20
const SBIN = ['/usr/sbin', '/sbin', '/usr/local/sbin']

export function createFirewall(options: {
  owner: string
  env: Readonly<Record<string, string | undefined>>
  /** Folders that are searched besides the PATH, which often lacks them for users other than root. */
  folders?: readonly string[]
}): Firewall {
  const { owner, env, folders = SBIN } = options
  const path = [env.PATH ?? '', ...folders].join(delimiter)
  const comment = (network: string) => `keelson ${owner} ${network}`

  async function call(
    program: string,
    args: readonly string[],
    input = '',
  ): Promise<{ ok: boolean; stdout: string; words: string }> {
    const file = await findOnPath(program, path)
    if (!file) return { ok: false, stdout: '', words: `${program} is not installed` }
    const { promise, resolve } = Promise.withResolvers<{ ok: boolean; stdout: string; words: string }>()
    // Not execa, which takes longer to load and to start than the program runs.
    const limits = { timeout: TIMEOUT_MS, maxBuffer: MOST_OUTPUT }
    const child = execFile(file, args, { env: { ...env }, ...limits }, (error, stdout, stderr) => {
      const words = stderr.split('\n').findLast(line => line.trim()) ?? ''
      resolve({ ok: !error, stdout, words })
    })
    child.stdin?.on('error', () => undefined).end(input) // a program that does not read it may be gone
    return promise
  }

  const restore = (lines: readonly string[]) =>
    call('iptables-restore', ['--noflush', '--wait', '10'], ['*mangle', ...lines, 'COMMIT', ''].join('\n'))

  /** Rules of ours as `iptables -S` prints them, without the `-A`. */
  async function jumps(): Promise<{ network: string; chain: string; rule: string }[]> {
    const { stdout } = await call('iptables', ['--wait', '10', '-t', 'mangle', '-S', 'PREROUTING'])
    return stdout.split('\n').flatMap(line => {
      const [, rule, network, chain] =
        new RegExp(`^-A (PREROUTING .*--comment "keelson ${owner} (\\S+)" -j (KEELSON-\\w+))$`).exec(line) ??
        []
      return rule && network && chain ? [{ rule, network, chain }] : []
    })
  }

  async function clear(network: string): Promise<string[]> {
    const ours = (await jumps()).filter(jump => jump.network === network)
    return ours.map(({ rule }) => `-D ${rule}`)
  }

  return {
    async problem() {
      const { ok, words } = await call('iptables', ['--wait', '10', '-t', 'mangle', '-S', 'PREROUTING'])
      return ok ? undefined : words || 'iptables refused'
    },
    async apply({ network, bridge, gateway, port }, { isNew = false } = {}) {
      const chain = chainOf(owner, network)
      const { ok, words } = await restore([
        `:${chain} - [0:0]`,
        ...(isNew ? [] : await clear(network)),
        `-A ${chain} -m conntrack --ctstate ESTABLISHED -j ACCEPT`,
        `-A ${chain} -d ${gateway}/32 -p tcp -m tcp --dport ${port} -j ACCEPT`,
        `-A ${chain} -j DROP`,
        `-I PREROUTING -i ${bridge} -m comment --comment "${comment(network)}" -j ${chain}`,
      ])
      return ok ? undefined : words || 'iptables refused'
    },
    async remove(network) {
      const chain = chainOf(owner, network)
      // Another program may have removed the jump, so the chain is made if needed, and then deleted.
      await restore([`:${chain} - [0:0]`, ...(await clear(network)), `-X ${chain}`])
    },
    list: async () => [...new Set((await jumps()).map(({ network }) => network))],
    async missing(rules) {
      const { ok, stdout } = await call('iptables', ['--wait', '10', '-t', 'mangle', '-S'])
      if (!ok) return []
      const lines = stdout.split('\n')
      return rules.filter(({ network, bridge }) => {
        const chain = chainOf(owner, network)
        const jump = `-A PREROUTING -i ${bridge} -m comment --comment "${comment(network)}" -j ${chain}`
        return !lines.includes(jump) || lines.filter(line => line.startsWith(`-A ${chain} `)).length !== 3
      })
    },
  }
}

/** iptables takes at most 28 characters. */
const chainOf = (owner: string, network: string): string =>
  `KEELSON-${createHash('sha256').update(`${owner} ${network}`).digest('hex').slice(0, 12)}`
