import { mkdir, readdir, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { WaitOptions } from '../../../src/contracts/runtime.ts'
import { type GoSettings, readGoSettings } from '../../../src/lib/go-settings.ts'
import { runTool } from '../../../src/lib/run-tool.ts'
import { toolEnvironment } from '../../../src/lib/tool-environment.ts'
import { failures } from '../failures.ts'
import type { WithInstallSandbox } from './install-sandbox.ts'
import type { PinnedPackage } from './installed-package.ts'
import type { Installed } from './npm.ts'

/** Builds a Go program from its module into an empty folder. Compiling runs no code of packages. */
export async function installGo(
  withSandbox: WithInstallSandbox,
  { name, version }: PinnedPackage,
  folder: string,
  wait: WaitOptions = {},
): Promise<Installed> {
  const bin = join(folder, 'bin')
  await mkdir(bin)
  await build(withSandbox, wait, {
    folder,
    args: ['install', '-trimpath', `${name}@${version}`],
    env: { GOBIN: bin },
    what: `${name}@${version}`,
  })
  const [program] = await readdir(bin)
  if (!program) throw failures.process_no_entry({ package: name, names: [] })
  return { command: [`bin/${program}`], needs: [] }
}

/** Builds local Go code into a file of a folder. Nothing is written beside the code. */
export async function buildLocalGo(
  withSandbox: WithInstallSandbox,
  path: string,
  output: { readonly folder: string; readonly file: string },
  wait: WaitOptions = {},
): Promise<void> {
  await build(withSandbox, wait, {
    folder: output.folder,
    args: ['build', '-trimpath', '-buildvcs=false', '-o', join(output.folder, output.file), '.'],
    code: path,
    what: path,
  })
}

interface GoBuild {
  readonly folder: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Folder of local code. */
  readonly code?: string
  /** Of messages. */
  readonly what: string
}

async function build(
  withSandbox: WithInstallSandbox,
  wait: WaitOptions,
  { folder, args, env, code, what }: GoBuild,
): Promise<void> {
  const settings = await readGoSettings(wait)
  if (!settings) throw failures.process_tool_missing({ scheme: 'go', tool: 'go' })
  const reads = [settings.root, ...(code === undefined ? [] : await moduleFolders(code, settings, wait))]
  const installation = { tool: 'Go', folder, registries: settings.proxies, reads } as const
  await withSandbox(installation, wait, async sandbox => {
    const result = await sandbox.run([join(settings.root, 'bin', 'go'), ...args], {
      ...(code === undefined ? {} : { cwd: await realpath(code) }),
      env: {
        ...settings.env,
        ...env,
        GOPATH: join(sandbox.cache, 'path'),
        GOCACHE: join(sandbox.cache, 'build'),
      },
      onLine: line => wait.report?.(line, 'detail'),
    })
    if (result.status !== 'ok') {
      throw failures.process_install_failed({ package: what, problem: sandbox.problemOf(result) })
    }
  })
}

/** The folders of the module, and of the workspace, that local code belongs to. */
async function moduleFolders(code: string, { env }: GoSettings, { signal }: WaitOptions): Promise<string[]> {
  const { stdout } = await runTool(['go', 'env', 'GOMOD', 'GOWORK'], {
    cwd: code,
    signal,
    env: { ...toolEnvironment(process.env, 'go'), ...env },
  })
  const files = stdout.split('\n').filter(line => line.startsWith('/') && line !== '/dev/null')
  return [await realpath(code), ...files.map(file => dirname(file))]
}
