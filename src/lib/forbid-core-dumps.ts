import { runTool } from './run-tool.ts'

/**
 * Keeps this process, and what it starts, from leaving core dumps, which would hold its secrets. Node cannot
 * set limits of its own process; where there is no prlimit(1) the limit stays as it is.
 */
export async function forbidCoreDumps(): Promise<void> {
  if (process.platform === 'linux') await runTool(['prlimit', `--pid=${process.pid}`, '--core=0:0'])
}
