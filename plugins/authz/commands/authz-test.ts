import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { type FlagValues, flag } from '../../../src/cli/flags.ts'
import { failures } from '../../../src/errors.ts'
import { HINTS, type Use } from '../decider.ts'
import type { Explanation } from '../try-use.ts'

const flags = {
  as: flag.list('claims of the caller (default: the user of this machine)', 'CLAIM=VALUE|JSON|@FILE'),
  call: flag.string('a tool to call', { placeholder: 'TOOL' }),
  prompt: flag.string('a prompt to get', { placeholder: 'PROMPT' }),
  read: flag.string('a resource to read', { placeholder: 'URI' }),
  arg: flag.list('an argument of the tool or prompt', 'NAME=VALUE|JSON|@FILE'),
  hint: flag.list(`an annotation of the tool that is true: ${HINTS.join(', ')}`, 'NAME'),
  server: flag.string('name of the workload, for policies that name it', { placeholder: 'NAME' }),
  format: flag.choice('output format', ['text', 'json'], 'text'),
}

export class AuthzTest extends BaseCommand {
  static override paths = [['authz', 'test']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'show what policies decide, and why',
    details:
      'Decides as a workload with --authz-config FILE would. Names the policies that decided, and says why ' +
      'each of the others did not apply. Exits with 1 if the use is denied.',
    examples: [
      [
        'May a caller of the group staff call a tool?',
        '$0 authz test policies.yaml --as sub=alice --as \'groups=["staff"]\' --call pay --arg amount=5',
      ],
    ],
  })
  static override synopsis = 'FILE'
  static override flags = flags

  file = Option.String({ required: true })

  override async execute(): Promise<number> {
    const values = this.values(flags)
    const [{ tryUse }, { readMembers, toTestCaller }, { localCaller }] = await Promise.all([
      import('../try-use.ts'),
      import('../read-claims.ts'),
      import('../local-caller.ts'),
    ])
    const caller = values.as.length ? toTestCaller(await readMembers(values.as, 'as')) : localCaller()
    const use = toUse(values, await readMembers(values.arg, 'arg'))
    const explanation = await tryUse(this.file, {
      caller,
      use,
      server: values.server ?? '',
      log: this.app.log,
    })
    const { decision, policies } = explanation
    if (values.format === 'json') {
      this.printJson({
        allowed: decision.isAllowed,
        policies: decision.policies ?? [],
        reason: decision.reason,
        outcomes: policies,
      })
    } else this.#printText(explanation)
    return decision.isAllowed ? 0 : 1
  }

  #printText({ decision: { isAllowed, policies = [], reason }, policies: outcomes }: Explanation): void {
    const by = policies.length ? ` by ${policies.join(', ')}` : ': no policy permits it'
    this.print(`${isAllowed ? 'Allowed' : 'Denied'}${by}`)
    if (reason !== undefined) this.print(`Reason: ${reason}`)
    if (!outcomes) return
    this.print('')
    this.printTable(
      [
        { title: 'POLICY', of: row => row.id },
        { title: 'EFFECT', of: row => row.effect },
        { title: 'LINE', of: row => (row.file ? `${row.file.line}` : `${row.text}:${row.line}`) },
        { title: 'APPLIES', of: row => (row.applies ? 'yes' : `no: ${row.reason}`) },
      ],
      outcomes,
    )
  }
}

/** What the flags want to use. Fails with `usage`. */
function toUse(
  { call, prompt, read, hint }: FlagValues<typeof flags>,
  args: Readonly<Record<string, unknown>>,
): Use {
  const uses: Use[] = []
  const hints = Object.fromEntries(hint.map(name => [assertHint(name), true]))
  if (call !== undefined) uses.push({ feature: 'tool', id: call, arguments: args, hints })
  if (prompt !== undefined) uses.push({ feature: 'prompt', id: prompt, arguments: args })
  if (read !== undefined) uses.push({ feature: 'resource', id: read })
  const [use, ...others] = uses
  if (!use || others.length) throw failures.usage({ text: 'Give one of --call, --prompt and --read.' })
  return use
}

function assertHint(name: string): string {
  if (HINTS.some(known => known === name)) return name
  throw failures.usage({ text: `--hint takes one of ${HINTS.join(', ')}, not "${name}".` })
}
