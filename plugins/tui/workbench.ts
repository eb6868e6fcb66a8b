import type { Readable } from 'node:stream'
import type { App } from '../../src/app.ts'
import type { Colour } from '../../src/cli/output.ts'
import { clean, printable } from '../../src/lib/printable.ts'
import { tailFile } from '../../src/lib/tail-file.ts'
import type { Denial } from '../egress/index.ts'
import { reasonOf, statusColour, statusText } from '../workloads/index.ts'

/** A workload as the view shows it. All texts are printable, here and below. */
export interface Row {
  readonly name: string
  readonly status: string
  readonly colour?: Colour | undefined
  /** Why it does not run as it should; one line, may be empty. */
  readonly reason: string
  readonly url: string
  readonly package: string
  readonly isUp: boolean
}

export interface Tool {
  readonly name: string
  readonly description: string
  /** A JSON Schema. */
  readonly inputSchema: unknown
}

export type Action = 'start' | 'stop' | 'restart' | 'remove'
export type LogKind = 'server' | 'proxy'

/** All that the view asks of the program. What fails throws an error whose message is for the user. */
export interface Workbench {
  list(): Promise<readonly Row[]>
  act(action: Action, name: string): Promise<void>
  /** The last lines of a log, then what is added, until the signal aborts. */
  log(name: string, kind: LogKind, signal: AbortSignal): AsyncIterable<string>
  tools(name: string, signal: AbortSignal): Promise<readonly Tool[]>
  call(
    name: string,
    call: { tool: string; args: Record<string, unknown>; onProgress: (text: string) => void },
    signal: AbortSignal,
  ): Promise<{ text: string; isError: boolean }>
  denials(name: string): Promise<readonly Denial[]>
  /** Lets a workload reach a destination from now on. Returns false where its profile cannot allow that. */
  allow(name: string, destination: { host: string; port: number }): Promise<boolean>
}

/** How many lines of a log are shown at first. */
const LINES = 500
const LIST_MS = 30_000
/** A person waits and can cancel; what ends calls earlier is the workload's own --call-timeout. */
const CALL_MS = 600_000

export async function createWorkbench(app: App): Promise<Workbench> {
  const [workloads, egress, serverTools] = await Promise.all([
    app.service('workloads'),
    app.service('egress'),
    app.service('serverTools'),
  ])

  async function open(name: string, kind: LogKind, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    const options = { follow: true, lines: LINES, signal }
    if (kind === 'proxy') return tailFile(await workloads.proxyLog(name), options)
    return (await workloads.logs(name, options)) as Readable & AsyncIterable<Buffer>
  }

  return {
    async list() {
      const now = Date.now()
      return (await workloads.list({ all: true })).map(workload => ({
        name: workload.name,
        status: statusText(workload, now),
        colour: statusColour(workload),
        reason: clean(reasonOf(workload)),
        url: clean(workload.url),
        package: clean(workload.package),
        isUp: !['stopped', 'error', 'unknown'].includes(workload.status),
      }))
    },

    async act(action, name) {
      const [outcome] = await workloads[action]([name])
      if (outcome?.error !== undefined) throw outcome.error
    },

    async *log(name, kind, signal) {
      const decoder = new TextDecoder()
      for await (const chunk of await open(name, kind, signal)) {
        yield printable(decoder.decode(chunk, { stream: true }))
      }
    },

    async tools(name, signal) {
      const tools = await serverTools.of(name, { timeoutMs: LIST_MS, signal })
      return tools.map(({ name, description = '', inputSchema }) => ({
        ...{ name, inputSchema },
        description: clean(description),
      }))
    },

    async call(name, { tool, args, onProgress }, signal) {
      const report = (text: string) => onProgress(clean(text))
      const limits = { timeoutMs: CALL_MS, signal }
      const { text, isError } = await serverTools.call(name, { name: tool, args, report }, limits)
      return { text: printable(text), isError }
    },

    denials: name => egress.denials(name),

    async allow(name, destination) {
      const before = await workloads.config(name)
      const config = await egress.allow(before, destination)
      if (!config) return false
      await workloads.edit(before, config)
      return true
    },
  }
}
