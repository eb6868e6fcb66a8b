import { isDeepStrictEqual } from 'node:util'
import type { App } from '../../../src/app.ts'
import type { ListedTool } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { SupervisorOperation } from '../../../src/contracts/supervisor-operation.ts'
import { messageOf } from '../../../src/errors.ts'
import { processIdentity } from '../../../src/lib/process-identity.ts'
import { checkSections } from '../../../src/sections.ts'
import { stateFailures } from '../../state/index.ts'
import { checkNames } from '../check-names.ts'
import { failures } from '../failures.ts'
import type { Settings } from '../selection.ts'
import { type DescribedTool, describeTools } from './describe-tools.ts'

export const TOOLS_OPERATION = 'tools'

/** What is asked of the supervisor about the tools of one workload. */
export interface ToolsInput {
  readonly name: string
  readonly change?: ToolsChange
  /** The run config that the caller has seen. The change fails with `workload_changed` when another one is stored. */
  readonly before?: RunConfig
  /** Says what the change would do, and changes nothing. */
  readonly preview?: boolean
}

/** Members that are absent stay as they are, or with `reset` take their default. */
export interface ToolsChange {
  readonly reset: boolean
  readonly settings: Settings
}

export interface ToolsResult {
  /** As they are now; after a preview as they would be. */
  readonly settings: Settings
  /** As they are now; absent where the server cannot be asked. */
  readonly tools?: readonly DescribedTool[]
  /** As they were before the change. */
  readonly before?: readonly DescribedTool[]
  /** Why there are no tools. */
  readonly problem?: string
  readonly warnings: readonly string[]
  /** Whether the workload runs here, so that clients see the change at once. */
  readonly isOpen: boolean
  /** The id of the process that runs the workload in the foreground. Nothing tells it of the change. */
  readonly foregroundProcess?: number
}

const MEMBERS = ['tools_filter', 'tools_override', 'tools_deny', 'tools_read_only'] as const

/** Shows and changes the tools of workloads, in the process that has their proxies open. */
export async function createToolsOperation(app: App): Promise<SupervisorOperation> {
  const [controls, store] = await Promise.all([app.service('toolControls'), app.service('workloadStore')])
  /** One after another, so that no change takes back another one. */
  let turn: Promise<unknown> = Promise.resolve()
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work)
    turn = mine.catch(() => undefined)
    return mine
  }

  async function listTools(
    name: string,
  ): Promise<Partial<{ listed: readonly ListedTool[]; problem: string }>> {
    const control = controls.get(name)
    if (!control) {
      const pid = await findForegroundProcess(name)
      return {
        problem: pid === undefined ? 'it does not run' : `it runs in the foreground of process ${pid}`,
      }
    }
    try {
      const listed = await control.listTools({})
      return listed ? { listed } : { problem: 'its server wants a login that the proxy does not have' }
    } catch (error) {
      return { problem: messageOf(error) }
    }
  }

  async function findForegroundProcess(name: string): Promise<number | undefined> {
    if (controls.has(name)) return undefined
    const pid = (await store.statuses.read(name))?.process_id
    const isOther = pid && pid !== process.pid && processIdentity(pid) !== undefined
    return isOther ? pid : undefined
  }

  async function toResult(
    { before, config }: { before: RunConfig | undefined; config: RunConfig },
    { listed, problem }: Awaited<ReturnType<typeof listTools>>,
  ): Promise<ToolsResult> {
    const { errors, warnings } = checkNames(config, listed ?? [])
    const pid = await findForegroundProcess(config.name)
    return {
      settings: settingsOf(config),
      ...(listed ? { tools: describeTools(config, listed) } : {}),
      ...(listed && before ? { before: describeTools(before, listed) } : {}),
      ...(problem === undefined ? {} : { problem }),
      warnings: listed ? [...errors, ...warnings] : [],
      isOpen: controls.has(config.name),
      ...(pid === undefined ? {} : { foregroundProcess: pid }),
    }
  }

  async function makeChange(
    { name, preview, before: seen }: ToolsInput,
    change: ToolsChange,
  ): Promise<ToolsResult> {
    const found = await listTools(name)
    return inTurn(async () => {
      const before = await store.configs.get(name)
      if (seen && !isDeepStrictEqual(before, seen)) throw stateFailures.workload_changed({ name })
      const config = withChange(before, change)
      await checkSections(app, config)
      const { errors } = checkNames(config, found.listed ?? [])
      if (found.listed && errors.length) throw failures.tools_unknown({ workload: name, errors })
      if (!preview) {
        if (await store.upgrades.find(name)) throw failures.tools_upgrading({ workload: name })
        await store.configs.saveOver(before, config)
        controls.get(name)?.select(config)
      }
      return toResult({ before, config }, found)
    })
  }

  return {
    name: TOOLS_OPERATION,
    async handle(input) {
      const asked = input as ToolsInput
      if (asked.change) return makeChange(asked, asked.change)
      const config = await store.configs.get(asked.name)
      return toResult({ before: undefined, config }, await listTools(asked.name))
    },
    isNeeded: () => false,
    takeAlong: () => undefined,
  }
}

function withChange(config: RunConfig, { reset, settings }: ToolsChange): RunConfig {
  const changed = { ...config }
  if (reset) for (const member of MEMBERS) delete changed[member]
  return { ...changed, ...settings }
}

export const settingsOf = (config: RunConfig): Settings =>
  Object.fromEntries(
    MEMBERS.flatMap(member => (config[member] === undefined ? [] : [[member, config[member]]])),
  )
