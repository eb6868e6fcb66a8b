import { messageOf } from '../../src/errors.ts'
import { lastLines, runTool } from '../../src/lib/run-tool.ts'
import { findOnPath } from './find-on-path.ts'
import { SYSTEM_ARGUMENTS, systemFolders } from './sandbox.ts'

/** Whether bubblewrap can be used, and if not, why. */
export type Bubblewrap =
  | { readonly works: true; readonly version: string /** Absolute. */; readonly program: string }
  | { readonly works: false; readonly problem: string }

const PROBE_MS = 5000

/**
 * Tries bubblewrap with the very namespaces and mounts that instances get: it may be installed and
 * still be refused by the kernel or by the container around us.
 */
export async function findBubblewrap(path: string): Promise<Bubblewrap> {
  if (process.platform !== 'linux') return { works: false, problem: 'bubblewrap exists on Linux only' }
  try {
    const program = await findOnPath('bwrap', path)
    if (!program) return { works: false, problem: 'bubblewrap (bwrap) is not installed' }
    const command = [program, ...(await systemFolders()), ...SYSTEM_ARGUMENTS, '--unshare-net', '--', 'true']
    const tried = await runTool(command, { timeoutMs: PROBE_MS })
    if (tried.status !== 'ok') {
      return { works: false, problem: `bubblewrap does not work here: ${lastLines(tried.stderr, 1)}` }
    }
    const { stdout } = await runTool([program, '--version'], { timeoutMs: PROBE_MS })
    return { works: true, program, version: stdout.replace(/^\D*/, '').trim() }
  } catch (error) {
    return { works: false, problem: messageOf(error) }
  }
}
