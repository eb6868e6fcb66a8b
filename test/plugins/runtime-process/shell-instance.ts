import type { InstanceSpec } from '../../../src/contracts/runtime.ts'
import { instanceSpec } from '../../support/instance-spec.ts'

/** An instance of a shell script, with what a test cares about. */
export const shellInstance = (script: string, given: Partial<InstanceSpec> = {}): InstanceSpec =>
  instanceSpec({ name: 'w', image: 'npx://run-arguments@1.0.0', args: ['sh', '-c', script], ...given })
