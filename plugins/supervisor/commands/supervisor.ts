import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const flags = {
  'idle-timeout': flag.duration('end when nothing has been hosted for this long', '60s'),
  build: flag.string('build to report (default: its own)'),
}

/** Runs the supervisor in this process until it is stopped or has nothing to host. Hidden. */
export class SupervisorCommand extends BaseCommand {
  static override paths = [['supervisor', 'run']]
  static override flags = flags

  override async execute(): Promise<void> {
    const { 'idle-timeout': idleMs = 60_000, build } = this.values(flags)
    const { runAsSupervisor } = await import('../supervisor-process.ts')
    await runAsSupervisor(this.app, { idleMs, signal: this.context.signal, ...(build ? { build } : {}) })
  }
}
