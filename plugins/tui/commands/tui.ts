import { BaseCommand } from '../../../src/cli/base-command.ts'
import { isTerminal, showsColours } from '../../../src/cli/output.ts'
import { failures } from '../failures.ts'

/** The view with its library is a file of its own in the built program, as only this command needs it. */
const VIEW = import.meta.url.endsWith('.ts') ? '../view/start.ts' : './tui-view.mjs'

export class Tui extends BaseCommand {
  static override paths = [['tui']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'see and steer workloads on the whole terminal',
    details: 'The bottom line shows the keys, and ? explains them. Needs a terminal.',
  })

  override async execute(): Promise<void> {
    const { stdin, stdout, signal } = this.context
    if (!isTerminal(stdin) || !isTerminal(stdout)) throw failures.tui_no_terminal()
    const { createWorkbench } = await import('../workbench.ts')
    const bench = await createWorkbench(this.app)
    // The library reads this when it is loaded.
    if (!showsColours(stdout)) process.env.FORCE_COLOR = '0'
    const { showWorkbench } = (await import(VIEW)) as typeof import('../view/start.ts')
    await showWorkbench(bench, { stdin, stdout, signal })
  }
}
