import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { fold } from '../../../src/cli/fold.ts'
import { widthOf } from '../../../src/cli/output.ts'
import type { PipelineMiddleware, Protocol, Workload } from '../../../src/contracts/workload.ts'
import { describeVerification, isolationOf } from '../describe-isolation.ts'
import { formatUptime } from '../uptime.ts'

/** The column in which values begin. */
const INDENT = 12

const EVERY = '`keelson list` shows all workloads.'
const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

export class StatusOf extends BaseCommand {
  static override paths = [['status']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'show a workload in detail',
  })
  static override synopsis = 'NAME'
  static override completes = 'workloads' as const
  static override flags = flags
  static override hints = { a: EVERY, all: EVERY }

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const workloads = await this.app.service('workloads')
    const workload = await workloads.get(this.name)
    const config = await workloads.config(this.name)
    const isolation = await isolationOf(config, this.app)
    const verified = describeVerification(config)
    const uptime = formatUptime(workload, Date.now())
    if (this.values(flags).format === 'json')
      return this.printJson({ ...toStatus(workload, uptime), ...(isolation ? { isolation } : {}) })
    const lines: [string, string | undefined][] = [
      ['Name', workload.name],
      ['Status', workload.status],
      ['Reason', workload.status_context],
      ['Package', workload.package],
      ['URL', workload.url],
      ['Port', String(workload.port)],
      ['Transport', workload.transport_type],
      ['Proxy Mode', workload.proxy_mode],
      ['Protocol', workload.protocol && PROTOCOL_TEXT[workload.protocol]],
      ['Processes', processesOf(workload)],
      ['Group', workload.group],
      ['Created', workload.created_at.replace('T', ' ').replace(/\..*$/, '')],
      ['Remote', workload.remote ? 'true' : undefined],
      ['Isolation', isolation],
      ['Verified', verified],
      ['Secrets', config.secrets?.map(secret => secret.replace(/,.*/, '')).join(', ')],
      ['Published', config.publish?.map(describePort).join(', ')],
      ['Uptime', uptime],
      ['Upgrade', upgradeOf(workload)],
    ]
    const most = widthOf(this.context.stdout)
    for (const [title, value] of lines)
      if (value) this.print(fold(`${`${title}:`.padEnd(INDENT)}${value}`, { width: most, indent: INDENT }))
    const middlewares = (workload.middlewares ?? []).filter(({ description, added }) => description || added)
    if (middlewares.length === 0) return
    this.print('Requests pass:')
    const width = Math.max(...middlewares.map(({ stage }) => stage.length))
    for (const step of middlewares) {
      const line = `  ${step.stage.padEnd(width)}  ${describeStep(step)}`
      this.print(fold(line, { width: most, indent: width + 4 }))
    }
  }
}

/** `9000:8080` as `127.0.0.1:9000 (8080 of the server)`. */
const describePort = (text: string): string =>
  text.replace(/^(\d+):(\d+)$/, '127.0.0.1:$1 ($2 of the server)')

const describeStep = ({ name, description, plugin, added }: PipelineMiddleware): string =>
  added ? `${description ?? name} (plugin ${plugin})` : (description ?? name)

const PROTOCOL_TEXT: Readonly<Record<Protocol, string>> = {
  legacy: 'legacy (initialize, up to 2025-11-25)',
  stateless: 'stateless (2026-07-28)',
  both: 'legacy and stateless',
}

const processesOf = ({ client_processes: count }: Workload): string | undefined =>
  count === undefined ? undefined : `${count} for one client each`

function toStatus(workload: Workload, uptime: string | undefined) {
  const {
    name,
    status,
    status_context,
    package: source,
    url,
    port,
    transport_type,
    proxy_mode,
    group,
  } = workload
  return {
    name,
    status,
    ...(status_context ? { status_context } : {}),
    package: source,
    url,
    port,
    transport: transport_type,
    proxy_mode,
    ...(group ? { group } : {}),
    ...(workload.no_sandbox ? { no_sandbox: true } : {}),
    ...(uptime ? { uptime } : {}),
    ...(workload.protocol ? { protocol: workload.protocol } : {}),
    ...(workload.client_processes === undefined ? {} : { client_processes: workload.client_processes }),
    ...(workload.middlewares ? { middlewares: workload.middlewares } : {}),
    ...(workload.last_upgrade ? { last_upgrade: workload.last_upgrade } : {}),
  }
}

/** How the last upgrade ended. */
function upgradeOf({ last_upgrade: last }: Workload): string | undefined {
  if (!last) return undefined
  const when = last.at.replace('T', ' ').replace(/\..*$/, '')
  if (last.outcome === 'upgraded') return `from ${last.from} at ${when}`
  const why = last.reason?.split('\n', 1)[0]?.replace(/ Its last lines:$/, '') ?? 'the reason is not known'
  return `rolled back from ${last.to} at ${when}: ${why}`
}
