import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import type { TestContext } from 'vitest'
import { engineProblem } from './engine-problem.ts'
import { needs } from './left-out.ts'

const repository = new URL('../..', import.meta.url).pathname

/** What servers of tests run in. */
export const NODE_IMAGE = 'keelson-test/node:24'

/** Leaves the test out, saying why, where the image of keelson cannot be built. */
export function needsImage(context: TestContext): void {
  const isBuilt = existsSync(join(repository, 'dist/main.js'))
  needs(context, isBuilt ? engineProblem('docker', NODE_IMAGE) : 'there is no build (npm run build)')
}

/** Builds the image of keelson. The caller removes it. */
export async function buildImage(tag: string): Promise<void> {
  await execa(process.execPath, [join(repository, 'scripts/container-image.ts'), tag])
}

export const docker = (...args: string[]): string =>
  execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

/** Flags of `docker run` as a pod of the restricted standard has them. */
export const RESTRICTED = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'] as const

/** Starts a container that is removed when it stops. Returns its address on the network. */
export function startContainer(name: string, network: string, args: readonly string[]): string {
  docker('run', '--detach', '--name', name, '--network', network, ...args)
  return docker('inspect', '--format', '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}', name)
}
