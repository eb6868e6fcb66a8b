import type { InstanceSpec } from '../../src/contracts/runtime.ts'

/** An instance without ports, mounts, limits or a network of its own, changed by what a test cares about. */
export const instanceSpec = (
  given: Pick<InstanceSpec, 'name' | 'image'> & Partial<InstanceSpec>,
): InstanceSpec => ({
  args: [],
  env: {},
  labels: {},
  stdio: false,
  ports: [],
  mounts: [],
  network: undefined,
  limits: {},
  restart: 'never',
  privileged: false,
  explicitProfile: false,
  ...given,
})
