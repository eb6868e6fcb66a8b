import { builtins } from '../plugins/index.ts'
import { createApp } from './app.ts'
import { splitGlobals } from './cli/argv.ts'
import { assertUsable, toFolderFailure } from './cli/folder-failure.ts'
import { isTerminal } from './cli/output.ts'
import { printFailure } from './cli/print-failure.ts'
import { runCli } from './cli/run-cli.ts'
import { isDevice, standardStreams } from './cli/standard-streams.ts'
import { isFailure } from './errors.ts'
import { isKeelsonSecret } from './lib/keelson-secrets.ts'
import { thirdPartyEntries } from './loader.ts'
import { createLog } from './log.ts'
import { findPaths } from './paths.ts'
import { undoEnvFile } from './undo-env-file.ts'

undoEnvFile(process.argv.slice(2), process.env)
const streams = standardStreams()
const env = takeEnvironment()

/** Runs the command line of this process and returns its exit code. */
export async function main(): Promise<number> {
  const interrupts = watchInterrupts()
  let debug = env.KEELSON_DEBUG === 'true' || env.KEELSON_DEBUG === '1'
  try {
    const { globals, rest } = splitGlobals(process.argv.slice(2))
    const end = rest.indexOf('--')
    const own = end < 0 ? rest : rest.slice(0, end) // what stands behind belongs to the server
    debug ||= globals.debug || own.includes('--debug')
    const write = (line: string) => streams.stderr.write(line)
    const log = createLog({ write, human: isDevice(2) && isTerminal(streams.stderr), debug })
    const paths = findPaths(env)
    assertUsable(paths)
    const taken = builtins.flatMap(entry => Object.keys(entry.verbs ?? {}))
    const wanted = globals.plugins && !own.includes('--no-plugins')
    const added = wanted ? await thirdPartyEntries(paths, log, taken) : []
    const app = createApp({ paths, log, env, debug, entries: [...builtins, ...added] })
    const argv = rest[0] === '--version' ? ['version'] : rest
    const code = await runCli({
      app,
      argv,
      globals,
      streams,
      signal: interrupts.signal,
    })
    return interrupts.signal.aborted && code === 0 ? interrupts.exitCode() : code
  } catch (error) {
    if (!interrupts.signal.aborted)
      return printFailure(toFolderFailure(error, findPaths(env)), streams.stderr, { debug })
    // Whatever the interrupt broke off fails in its own way; only an expected failure has more to say.
    if (isFailure(error)) printFailure(error, streams.stderr, { debug })
    else streams.stderr.write('Interrupted.\n')
    return interrupts.exitCode()
  }
}

/**
 * The environment as we got it. What programs that we start inherit is `process.env`, and that holds
 * no variable with secrets of ours any more: installers run code of strangers.
 */
function takeEnvironment(): NodeJS.ProcessEnv {
  const all = { ...process.env }
  // A copy tells upper case from lower case, which Windows does not: there both spellings are found.
  if (process.platform === 'win32') {
    for (const [name, value] of Object.entries(process.env)) all[name.toUpperCase()] ??= value
  }
  for (const name of Object.keys(all).filter(isKeelsonSecret)) delete process.env[name]
  return all
}

/** The first interrupt asks the command to end, the second ends it. */
function watchInterrupts(): { signal: AbortSignal; exitCode: () => number } {
  const controller = new AbortController()
  let code = 0
  const on = (number: number) => () => {
    if (controller.signal.aborted) process.exit(128 + number)
    code = 128 + number
    controller.abort()
  }
  process.on('SIGINT', on(2))
  process.on('SIGTERM', on(15))
  return { signal: controller.signal, exitCode: () => code }
}
