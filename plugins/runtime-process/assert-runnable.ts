import { access } from 'node:fs/promises'
import type { InstanceSpec } from '../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { assertVariables } from '../../src/contracts/variables.ts'
import { capitalise } from '../../src/lib/capitalise.ts'
import { failures } from './failures.ts'
import type { Bubblewrap } from './find-bubblewrap.ts'

const ENGINE = 'Use docker or podman (`--runtime docker`).'
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/**
 * Refuses what a process on this host cannot be given or held to; nothing asked for is left out in silence.
 * Without bubblewrap nothing runs unless the user passes --no-sandbox; then everything that needs a sandbox is refused.
 */
export async function assertRunnable(spec: InstanceSpec, bubblewrap: Bubblewrap): Promise<void> {
  const { name, network, ports, env, mounts, hidden = [], isolatedNetwork } = spec
  const refuse = (what: string, hint = ENGINE) => failures.process_refused({ name, what, hint })
  if (!NAME.test(name)) throw refuse('this name', 'Use letters, digits, ".", "_" and "-".')
  if (spec.privileged) throw refuse('privileges')
  if (!['bridge', 'host', 'none', undefined].includes(network)) throw refuse(`the network "${network}"`)
  if (network === 'none' && !spec.stdio) throw refuse('no network and a port to listen on')
  const mapped = ports.find(port => port.hostPort !== undefined && port.hostPort !== port.instancePort)
  if (mapped && !isolatedNetwork) {
    throw refuse(
      `its port ${mapped.instancePort} as ${mapped.hostPort}`,
      'It listens on this host itself: leave the port out of --publish, or use docker or podman.',
    )
  }
  assertVariables(env)
  if (!bubblewrap.works) {
    const { problem } = bubblewrap
    if (!spec.noSandbox)
      throw failures.sandbox_missing({ name, problem: noSandbox(problem), hint: bubblewrap.hint })
    const hint = `${capitalise(problem)}. ${bubblewrap.hint}`
    if (spec.explicitProfile) throw refuse('the permission profile that was asked for', hint)
    if (isolatedNetwork) throw refuse('a network of its own', hint)
    if (hidden.length > 0) throw refuse('folders with hidden files', hint)
    if (mounts.length > 0) throw refuse('folders of this host (--volume) and nothing else', hint)
    if (network === 'host' || network === 'none') throw refuse(`the network mode "${network}"`, hint)
  }
  for (const { source } of mounts) {
    await access(source).catch(() => {
      throw runtimeFailures.mount_missing({ path: source })
    })
  }
}

/** Says that this host has no sandbox. */
export const noSandbox = (problem: string): string => `no sandbox is available for packages (${problem}).`
