import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

type Env = Record<string, string | undefined>

/**
 * Takes out of our environment what Node put there for our own `--env-file`.
 *
 * The installed program starts behind a `--`. Started as `node main.js` it does not, and then Node reads
 * that flag wherever it stands, also behind the program's name, so the variables of a server would reach
 * the engine's command line and every other server. Linux keeps the environment that we were started
 * with; elsewhere a variable goes when it is as in the file.
 */
export function undoEnvFile(argv: readonly string[], env: Env, readInitial = readOwnStart): void {
  const files = envFiles(argv)
  if (files.length === 0) return
  const initial = readInitial()
  for (const file of files) {
    for (const [name, value] of Object.entries(parse(file))) {
      if (initial ? !initial.has(name) : env[name] === value) delete env[name]
    }
  }
}

function envFiles(argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  const own = end < 0 ? argv : argv.slice(0, end)
  return own.flatMap((word, index) => {
    if (word === '--env-file') return own.slice(index + 1, index + 2)
    return word.startsWith('--env-file=') ? [word.slice('--env-file='.length)] : []
  })
}

function parse(file: string): Env {
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch {
    return {} // then Node could read nothing either
  }
}

/** Names of the variables this process was started with (proc_pid_environ(5)). */
function readOwnStart(): Set<string> | undefined {
  try {
    const entries = readFileSync('/proc/self/environ', 'utf8').split('\0')
    return new Set(entries.map(entry => entry.slice(0, entry.indexOf('='))))
  } catch {
    return undefined
  }
}
