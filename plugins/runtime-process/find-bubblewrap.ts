import { messageOf } from '../../src/errors.ts'
import { findOnPath } from '../../src/lib/find-on-path.ts'
import { lastLines, runTool } from '../../src/lib/run-tool.ts'
import { installHint, KERNEL_HINT } from './install-hint.ts'
import { NO_NESTING, SYSTEM_ARGUMENTS, systemFolders } from './sandbox.ts'

/** Whether bubblewrap can be used; if not, why, and what helps. */
export type Bubblewrap =
  | {
      readonly works: true
      readonly version: string
      /** Absolute. */
      readonly program: string
      /** Arguments beside `SYSTEM_ARGUMENTS` that work here too. */
      readonly hardening: readonly string[]
    }
  | { readonly works: false; readonly problem: string; readonly hint: string }

const PROBE_MS = 5000

/**
 * Tries bubblewrap with the very namespaces and mounts that instances get: it may be installed and
 * still be refused by the kernel or by the container around us.
 */
export async function findBubblewrap(path: string): Promise<Bubblewrap> {
  if (process.platform !== 'linux') {
    return { works: false, problem: 'bubblewrap exists on Linux only', hint: await installHint() }
  }
  try {
    const program = await findOnPath('bwrap', path)
    if (!program) {
      return { works: false, problem: 'bubblewrap (bwrap) is not installed', hint: await installHint() }
    }
    const folders = await systemFolders()
    const attempt = (hardening: readonly string[]) =>
      runTool([program, ...folders, ...SYSTEM_ARGUMENTS, ...hardening, '--unshare-net', '--', 'true'], {
        timeoutMs: PROBE_MS,
      })
    const asked = runTool([program, '--version'], { timeoutMs: PROBE_MS })
    let hardening = NO_NESTING
    let tried = await attempt(hardening)
    if (tried.status !== 'ok') {
      hardening = [] // before version 0.8, or installed with the setuid bit
      tried = await attempt(hardening)
    }
    if (tried.status !== 'ok') {
      const problem = `bubblewrap does not work here: ${lastLines(tried.stderr, 1)}`
      return { works: false, problem, hint: KERNEL_HINT }
    }
    const { stdout } = await asked
    return { works: true, program, version: stdout.replace(/^\D*/, '').trim(), hardening }
  } catch (error) {
    return { works: false, problem: messageOf(error), hint: await installHint() }
  }
}
