import { isAbsolute } from 'node:path'
import { parsePackageReference } from '../../../src/lib/package-reference.ts'
import type { Draft } from '../found.ts'

/** What the command of a client's entry runs, as members of a run config. */
export type FromCommand =
  | {
      readonly draft: Omit<Draft, 'name'>
      /** Variables of `docker run`; undefined where it passes on one of the client's own. */
      readonly variables: Record<string, string | undefined>
      readonly left: readonly string[]
    }
  | { readonly problem: string }

/** Programs that run a package, and what keelson calls such a package. */
const PACKAGE_RUNNERS: Readonly<Record<string, { scheme: 'npx' | 'uvx'; skips: ReadonlySet<string> }>> = {
  npx: { scheme: 'npx', skips: new Set(['-y', '--yes', '-q', '--quiet']) },
  bunx: { scheme: 'npx', skips: new Set([]) },
  uvx: { scheme: 'uvx', skips: new Set(['-q', '--quiet']) },
}

/** Turns a command line into members of a run config. Nothing is guessed: an option that is not known is a problem. */
export function fromCommand(command: string, args: readonly string[]): FromCommand {
  const program =
    command
      .split(/[\\/]/)
      .at(-1)
      ?.replace(/\.(?:exe|cmd)$/i, '') ?? ''
  // On Windows, clients start npx through the command interpreter.
  if (program === 'cmd' && args[0]?.toLowerCase() === '/c' && args[1])
    return fromCommand(args[1], args.slice(2))
  if (program === 'docker' || program === 'podman') return fromDocker(program, args)
  const runner = Object.hasOwn(PACKAGE_RUNNERS, program) ? PACKAGE_RUNNERS[program] : undefined
  if (!runner) {
    return {
      problem: `it runs ${program}, a program of this machine. keelson runs packages, images and URLs.`,
    }
  }
  const start = args.findIndex(arg => !runner.skips.has(arg))
  const name = args[start]
  if (!name) return { problem: `its ${program} names no package.` }
  if (name.startsWith('-')) return { problem: `keelson has nothing like the option ${name} of ${program}.` }
  if (!parsePackageReference(runner.scheme, name)) {
    return {
      problem: `${name} is not a package of a registry. keelson installs packages from registries only.`,
    }
  }
  const source = `${runner.scheme}://${name}`
  const rest = args.slice(start + 1)
  const left = rest
    .filter(arg => isAbsolute(arg))
    .map(path => `access to ${path}: keelson edit NAME -v ${path}:${path}:ro mounts it`)
  return {
    draft: { source, image: source, ...(rest.length ? { cmd_args: [...rest] } : {}) },
    variables: {},
    left,
  }
}

/** Options of `docker run` without a value, which change nothing here. */
const WITHOUT_EFFECT = new Set(['-i', '-t', '-it', '-ti', '--rm', '--interactive', '--tty', '--init'])
const VALUES: Readonly<Record<string, 'variable' | 'volume' | 'ignored'>> = {
  '-e': 'variable',
  '--env': 'variable',
  '-v': 'volume',
  '--volume': 'volume',
  '--name': 'ignored',
  '--pull': 'ignored',
}

function fromDocker(program: string, [verb, ...args]: readonly string[]): FromCommand {
  if (verb === 'mcp') return { problem: 'it is the gateway of docker mcp. Use: keelson import docker-mcp' }
  if (verb !== 'run')
    return { problem: `it runs "${program} ${verb ?? ''}"; only "${program} run" can be imported.` }
  const variables: Record<string, string | undefined> = {}
  const volumes: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (!arg.startsWith('-')) {
      const rest = args.slice(at + 1)
      const draft = {
        image: arg,
        ...(volumes.length ? { volumes } : {}),
        ...(rest.length ? { cmd_args: rest } : {}),
      }
      return { draft, variables, left: [] }
    }
    if (WITHOUT_EFFECT.has(arg)) continue
    const [option = '', attached] = arg.split(/=(.*)/s)
    const meaning = Object.hasOwn(VALUES, option) ? VALUES[option] : undefined
    if (!meaning) return { problem: `keelson import does not know the option ${option} of ${program} run.` }
    const value = attached ?? args[++at] ?? ''
    const [name = '', content] = value.split(/=(.*)/s)
    if (meaning === 'variable') variables[name] = content
    if (meaning === 'volume') volumes.push(value)
  }
  return { problem: `its ${program} run names no image.` }
}
