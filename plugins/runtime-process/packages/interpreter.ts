import { sep } from 'node:path'
import { programText } from '../../../src/lib/program-text.ts'
import { runTool } from '../../../src/lib/run-tool.ts'

/** A Python of this host, as it described itself before anything was installed for it. */
export interface Interpreter {
  /** Absolute; of the installation itself, not of an environment made from it. */
  readonly program: string
  /** Folder of its programs and standard library. */
  readonly prefix: string
  /** Folder in which its pip lies; empty where it has none. */
  readonly pip: string
}

const DESCRIBE = programText('plugins/runtime-process/programs/describe_interpreter.py')

/** Asks an interpreter to describe itself; undefined when it does not run. `-S`: runs no code of installed packages. */
export async function askInterpreter(
  python: string,
  signal: AbortSignal | undefined,
): Promise<Interpreter | undefined> {
  const { status, stdout } = await runTool([python, '-I', '-S', '-c', DESCRIBE], { signal })
  if (status !== 'ok') return undefined
  const [program = '', prefix = '', pip = ''] = JSON.parse(stdout) as string[]
  return { program, prefix, pip }
}

/** Whether a folder contains the home folder. */
export const containsHome = (prefix: string, home: string): boolean =>
  `${home}${sep}`.startsWith(prefix.replace(/[/\\]*$/, sep))
