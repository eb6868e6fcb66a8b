import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { TestContext } from 'vitest'
import { engineProblem } from '../support/engine-problem.ts'
import { needs } from '../support/left-out.ts'
import { CA } from './home.ts'

export const PLACES = ['docker', 'podman', 'process'] as const
export type Place = (typeof PLACES)[number]

/** Base images of the tests, by scheme. */
const BASES = { npx: 'keelson-test/node:24', uvx: 'keelson-test/python:3', go: 'keelson-test/golang:1' }

/** Flags of `run` for a package in a runtime of this machine. */
export const flagsOf = (place: Place, scheme: keyof typeof BASES = 'npx'): string[] => [
  '--runtime',
  place,
  ...(place === 'process' ? [] : ['--runtime-image', BASES[scheme]]),
  ...(place === 'process' || !existsSync(CA) ? [] : ['--ca-cert', CA]),
]

/** Leaves the test out, saying why, where the engine is missing; in CI that is a failure. */
export function needsPlace(context: TestContext, place: Place, scheme: keyof typeof BASES = 'npx'): void {
  if (place === 'process') return
  needs(context, engineProblem(place, BASES[scheme]))
}

/** Containers (running or not) and networks whose name begins so. */
export function leftOvers(engine: 'docker' | 'podman', prefix: string): string[] {
  const ask = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(engine, args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    return stdout.split('\n').filter(name => name.startsWith(prefix))
  }
  return [...ask('ps', '--all', '--format', '{{.Names}}'), ...ask('network', 'ls', '--format', '{{.Name}}')]
}
