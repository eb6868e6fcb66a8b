import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { WaitOptions } from '../../../src/contracts/runtime.ts'
import { netrcFor } from '../../../src/lib/netrc.ts'
import { pickVariables } from '../../../src/lib/pick-variables.ts'
import { processIdentity } from '../../../src/lib/process-identity.ts'
import { lastLines, runTool, type ToolOptions, type ToolResult } from '../../../src/lib/run-tool.ts'
import type { Log } from '../../../src/log.ts'
import type { Egress, RegistryProxy } from '../../egress/index.ts'
import type { Bubblewrap } from '../find-bubblewrap.ts'
import { INNER_PROXY, PROXY_SOCKET, sandboxedTool } from './sandboxed-tool.ts'

/** One installation: what a tool may see and reach. */
export interface Installation {
  /** For messages, and for the name of its cache folder. */
  readonly tool: 'npm' | 'pip' | 'uv' | 'Go'
  /** The folder to fill: the only one that the tool can write, apart from its cache. */
  readonly folder: string
  /** Addresses of the registries that the user has set up. */
  readonly registries: readonly string[]
  /** Files and folders that it reads: the tool itself, certificates. */
  readonly reads: readonly string[]
  /** Whether the user has set up a proxy of their own for the tool. */
  readonly proxied?: boolean
}

/** Where a tool installs packages of strangers. */
export interface InstallSandbox {
  /** The tool's home, which holds nothing but its logins. Removed after the installation. */
  readonly home: string
  /** The tool's cache, kept between installations. */
  readonly cache: string
  /** Runs an absolute program, by default in the folder to fill. */
  run(command: readonly string[], options?: Pick<ToolOptions, 'cwd' | 'env' | 'onLine'>): Promise<ToolResult>
  /** Why a tool failed: the hosts that it was refused, else its own words. */
  problemOf(result: ToolResult): string
}

export type WithInstallSandbox = <T>(
  installation: Installation,
  wait: WaitOptions,
  work: (sandbox: InstallSandbox) => Promise<T>,
) => Promise<T>

/**
 * Makes sandboxes for installing packages: bubblewrap with the folder to fill and the tool's cache
 * writable, the system and the tool read-only, nothing else of the home, and network access to the registries
 * only. Where bubblewrap does not work, a warning says so; the tool still has its own home and environment and
 * uses the same egress proxy.
 */
export function createInstallSandbox(options: {
  /** Parent of the tools' caches. */
  caches: string
  /** Parent of the sockets; its path must be short. */
  sockets: string
  bubblewrap: () => Promise<Bubblewrap>
  egress: () => Promise<Pick<Egress, 'openRegistryProxy'>>
  log: Log
}): WithInstallSandbox {
  return async (installation, wait, work) => {
    const { tool, folder, registries, reads } = installation
    const found = await options.bubblewrap()
    const proxied = installation.proxied === true || Object.keys(proxiesOf(process.env)).length > 0
    const scratch = join(folder, '.keelson')
    const home = join(scratch, 'home')
    const temporary = join(scratch, 'tmp')
    const cache = join(options.caches, tool.toLowerCase())
    const sockets = await makeSocketFolder(options.sockets)
    let proxy: RegistryProxy | undefined
    try {
      for (const path of [home, temporary, cache]) await mkdir(path, { recursive: true, mode: 0o700 })
      const hosts = registries.map(registry => new URL(registry).hostname)
      await writeFile(join(home, '.netrc'), await netrcFor(hosts, process.env), { mode: 0o600 })
      if (!found.works) {
        wait.report?.(
          `warning: ${tool} installs without a sandbox and without running scripts: ${found.problem}`,
        )
      }
      if (proxied) {
        wait.report?.(`warning: ${tool} uses your own proxy, so it is not limited to the package registries`)
      } else {
        const { openRegistryProxy } = await options.egress()
        const listen = found.works ? { path: join(sockets, PROXY_SOCKET) } : { host: '127.0.0.1', port: 0 }
        proxy = await openRegistryProxy({ registries, listen, log: options.log })
      }
      const env = {
        ...certificatesOf(process.env),
        ...(proxy ? proxyVariables(proxy.url ?? INNER_PROXY) : proxiesOf(process.env)),
        PATH: dirname(process.execPath),
        HOME: home,
        TMPDIR: temporary,
        LANG: 'C.UTF-8',
      }
      return await work({
        home,
        cache,
        async run(command, { cwd = folder, env: more, onLine } = {}) {
          const whole = found.works
            ? await sandboxedTool(command, {
                bubblewrap: found,
                cwd,
                writes: [folder, cache],
                reads: [...reads, ...Object.values(certificatesOf(process.env))],
                sockets: proxy && sockets,
              })
            : command
          return runTool(whole, { cwd, env: { ...env, ...more }, onLine, signal: wait.signal })
        },
        problemOf({ stderr, stdout }) {
          const said = lastLines(stderr) || lastLines(stdout) || 'it ended without saying why'
          const denied = [...(proxy?.denied ?? [])]
          if (denied.length === 0) return said
          return `it tried to reach ${denied.join(', ')}, which is not a registry that ${tool} is set up with.`
        },
      })
    } finally {
      await proxy?.close()
      await rm(scratch, { recursive: true, force: true })
      await rm(sockets, { recursive: true, force: true })
    }
  }
}

/** Creates a folder named after this process, and removes those of processes that have ended. */
async function makeSocketFolder(root: string): Promise<string> {
  await mkdir(root, { recursive: true, mode: 0o700 })
  for (const name of await readdir(root)) {
    const pid = Number(/^in-(\d+)-/.exec(name)?.[1])
    if (pid && processIdentity(pid) === undefined)
      await rm(join(root, name), { recursive: true, force: true })
  }
  const folder = join(root, `in-${process.pid}-${randomBytes(4).toString('hex')}`)
  await mkdir(folder, { mode: 0o700 })
  return folder
}

type Env = Readonly<Record<string, string | undefined>>

const pick = (env: Env, names: RegExp) => pickVariables(env, name => names.test(name))

const certificatesOf = (env: Env) => pick(env, /^(?:SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS)$/)

/** The user's own proxies and NO_PROXY; empty when only NO_PROXY is set. */
function proxiesOf(env: Env): Record<string, string> {
  const proxies = pick(env, /^(?:HTTPS?|ALL)_PROXY$/i)
  return Object.keys(proxies).length > 0 ? { ...proxies, ...pick(env, /^NO_PROXY$/i) } : {}
}

const proxyVariables = (url: string): Record<string, string> => ({
  HTTP_PROXY: url,
  HTTPS_PROXY: url,
  http_proxy: url,
  https_proxy: url,
})
