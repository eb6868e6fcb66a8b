import { spawnSync } from 'node:child_process'

/** Why the engine cannot be used for tests here; undefined when it can. Asked before tests are defined, so not async. */
export function engineProblem(program: 'docker' | 'podman', image: string): string | undefined {
  const { error, status, stderr } = spawnSync(program, ['image', 'inspect', image], {
    timeout: 60_000,
    encoding: 'utf8',
  })
  if (status === 0) return undefined
  return `${program} ${error ? error.message : (stderr.trim().split('\n').at(-1) ?? '')} (test/support/engines/setup.sh sets it up)`
}
