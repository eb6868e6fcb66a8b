import type { Plugin } from '../../src/plugin.ts'
import { Doctor } from './commands/doctor.ts'

/** Says what works on this machine, and what to do about what does not. */
const doctor: Plugin = {
  name: 'doctor',
  uses: ['runtimes', 'supervisor', 'workloads'],
  wants: ['secrets'],
  commands: [Doctor],
}
export default doctor
