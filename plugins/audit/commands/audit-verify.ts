import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'

export class AuditVerify extends BaseCommand {
  static override paths = [['audit', 'verify']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'check the hash chain of an audit log',
    details:
      'FILE is an audit log that was written with hashChain: the logFile of the audit configuration, or audit/NAME.jsonl ' +
      'in the data folder. Checks each line against the line before it, in FILE and in the full files before it. Names ' +
      'the first line that does not fit, or says how many lines are missing at the end, and then exits with 1.',
    examples: [['Check a log', '$0 audit verify /var/log/mcp/audit.jsonl']],
  })
  static override synopsis = 'FILE'

  file = Option.String({ required: true })

  override async execute(): Promise<number> {
    const { verifyLog } = await import('../verify-log.ts')
    const { lines, first, hash, broken, missing } = await verifyLog(this.file)
    if (broken) {
      this.print(`${broken.file}:${broken.line}: ${broken.problem}.`)
      return 1
    }
    if (missing) {
      this.print(`${this.file}: ${missing === 1 ? '1 line is' : `${missing} lines are`} missing at the end.`)
      return 1
    }
    if (lines === 0) {
      this.print(`${this.file}: it has no lines.`)
      return 0
    }
    this.print(`${lines} lines, ${first} to ${first + lines - 1}, are as they were written.`)
    if (first > 1) this.print(`Lines 1 to ${first - 1} are not here.`)
    this.print(`Hash of the last line: ${hash}`)
    return 0
  }
}
