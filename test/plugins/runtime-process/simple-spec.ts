import type { InstanceSpec } from '../../../src/contracts/runtime.ts'

/** An instance of a shell script, with what a test cares about. */
export const shellInstance = (script: string, given: Partial<InstanceSpec> = {}): InstanceSpec => ({
  name: 'w',
  image: 'npx://run-arguments@1.0.0',
  args: ['sh', '-c', script],
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
