import { spawnSync } from 'node:child_process'
import { describe, type TestContext } from 'vitest'
import { needs } from '../support/left-out.ts'
import { startOutside } from './elsewhere/outside.ts'
import { isolationSuite } from './isolation-suite.ts'
import { type Elsewhere, isolationWorld } from './isolation-world.ts'
import { daemonProblem, ownDaemon } from './own-daemon.ts'
import { needsPlace } from './places-to-run.ts'

// The same on engines whose networks are not networks of this host: the way out is in their helper.

const rootless = new URL('../support/engines/rootless', import.meta.url).pathname
const asRoot = process.getuid?.() === 0
/** Root runs it as a user made for that; anybody else as themselves. */
const rootlessEnv = { ...process.env, PATH: `${asRoot ? `${rootless}:` : ''}${process.env.PATH}` }

function needsRootless(context: TestContext): void {
  const problem = rootlessProblem()
  needs(context, problem)
}

function rootlessProblem(): string | undefined {
  const { status, stderr } = spawnSync('podman', ['image', 'inspect', 'keelson-test/node:24'], {
    env: rootlessEnv,
    encoding: 'utf8',
  })
  return status === 0 ? undefined : `rootless podman: ${stderr} (test/support/engines/setup.sh sets it up)`
}

function needsDaemon(context: TestContext): void {
  needsPlace(context, 'docker')
  needs(context, daemonProblem())
}

async function rootlessPodman(): Promise<Elsewhere> {
  const outside = await startOutside({ program: 'podman', env: rootlessEnv, network: 'podman' })
  return {
    env: rootlessEnv,
    outside,
    ...(asRoot ? { share: folder => void spawnSync('chown', ['-R', 'keelson-rootless', folder]) } : {}),
    close: () => outside.close(),
  }
}

async function remoteDocker(): Promise<Elsewhere> {
  const daemon = await ownDaemon({ bridge: true })
  await daemon.start()
  await daemon.give('keelson-test/node:24')
  const env = { ...process.env, DOCKER_HOST: daemon.host }
  const outside = await startOutside({ program: 'docker', env, network: 'bridge' })
  return { env, outside, close: () => daemon.close() }
}

describe('on podman without root', { timeout: 120_000 }, () =>
  isolationSuite('podman', {
    id: 'rootless',
    open: async () => isolationWorld('podman', rootlessProblem() ? undefined : await rootlessPodman()),
    needs: needsRootless,
  }),
)

describe('on docker with networks that are not of this host', { timeout: 120_000 }, () =>
  isolationSuite('docker', {
    id: 'remote',
    open: async () => isolationWorld('docker', daemonProblem() ? undefined : await remoteDocker()),
    needs: needsDaemon,
  }),
)
