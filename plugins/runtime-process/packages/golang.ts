import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { WaitOptions } from '../../../src/contracts/runtime.ts'
import { lastLines, runTool, type ToolResult } from '../../../src/lib/run-tool.ts'
import { failures } from '../failures.ts'
import type { PinnedPackage } from './installed-package.ts'
import type { Installed } from './npm.ts'

/** Without cgo: compiling C would follow the package's own orders to the compiler. */
const ENV = { CGO_ENABLED: '0', GO111MODULE: 'on', GIT_TERMINAL_PROMPT: '0' }

/** Builds a Go program from its module into an empty folder. */
export async function installGo(
  { name, version }: PinnedPackage,
  folder: string,
  { signal, report }: WaitOptions = {},
): Promise<Installed> {
  const bin = join(folder, 'bin')
  await mkdir(bin)
  const result = await runTool(['go', 'install', '-trimpath', `${name}@${version}`], {
    signal,
    env: { ...ENV, GOBIN: bin },
    onLine: line => report?.(line, 'detail'),
  })
  check(result, `${name}@${version}`)
  const [program] = await readdir(bin)
  if (!program) throw failures.process_no_entry({ package: name, names: [] })
  return { command: [`bin/${program}`], needs: [] }
}

/** Builds local Go code into a file. Nothing is written beside the code. */
export async function buildLocalGo(
  path: string,
  output: string,
  { signal, report }: WaitOptions = {},
): Promise<void> {
  const result = await runTool(['go', 'build', '-trimpath', '-buildvcs=false', '-o', output, '.'], {
    cwd: path,
    signal,
    env: ENV,
    onLine: line => report?.(line, 'detail'),
  })
  check(result, path)
}

function check(result: ToolResult, name: string): void {
  if (result.status === 'missing') throw failures.process_tool_missing({ scheme: 'go', tool: 'go' })
  if (result.status === 'failed') {
    throw failures.process_install_failed({ package: name, problem: lastLines(result.stderr) })
  }
}
