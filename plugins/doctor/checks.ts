import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { App } from '../../src/app.ts'
import { VERSION } from '../../src/build-info.ts'
import type { Workload } from '../../src/contracts/workload.ts'
import { Failure, isFailure, messageOf } from '../../src/errors.ts'

/** What one check found. A warning is worth knowing, and nothing fails because of it. */
export interface Finding {
  readonly what: string
  readonly state: 'ok' | 'warning' | 'failed'
  /** One line. */
  readonly text: string
  /** What to do. */
  readonly hint?: string
}

type Check = (app: App) => Promise<readonly Finding[]>

const program: Check = async () => [
  { what: 'program', state: 'ok', text: `keelson ${VERSION} on Node.js ${process.versions.node}` },
]

/** Of a folder that is not there yet, the nearest one above it decides. */
async function isWritable(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK)
    return true
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    return isMissing && dirname(folder) !== folder && isWritable(dirname(folder))
  }
}

const folders: Check = async ({ paths }) => {
  const { home, config, data, state, cache } = paths
  const places = [config, data, state, cache]
  const writable = await Promise.all(places.map(isWritable))
  const locked = places.filter((_, i) => !writable[i])
  if (locked.length === 0) return [{ what: 'folders', state: 'ok', text: `in ${home}` }]
  return locked.map(folder => ({
    what: 'folders',
    state: 'failed',
    text: `${folder} cannot be written`,
    hint: 'Is HOME right, and does that folder belong to you?',
  }))
}

const runtimes: Check = async app => {
  const probed = await (await app.service('runtimes')).probeAll()
  const none = !probed.some(({ probe }) => probe.ok)
  return probed.map(({ runtime: { name }, probe }) =>
    probe.ok
      ? {
          what: name,
          state: probe.warnings.length ? 'warning' : 'ok',
          text: [probe.version, ...probe.warnings].join('; '),
        }
      : { what: name, state: none ? 'failed' : 'warning', text: probe.problem, hint: probe.hint },
  )
}

const isolation: Check = async app => {
  const { runtime } = await (await app.service('runtimes')).select()
  const probe = await runtime.isolation?.probe()
  const text = `by ${runtime.name}`
  if (!probe) return [{ what: 'isolation', state: 'warning', text: `none ${text}` }]
  if (probe.ok) return [{ what: 'isolation', state: 'ok', text: [text, ...probe.warnings].join('; ') }]
  return [{ what: 'isolation', state: 'failed', text: probe.problem, hint: probe.hint }]
}

const supervisor: Check = async app => {
  const found = await (await app.service('supervisor')).find()
  const text = found
    ? `process ${found.pid} hosts ${found.workloads} ${found.workloads === 1 ? 'workload' : 'workloads'}`
    : 'not running; it starts when it is needed'
  return [{ what: 'supervisor', state: 'ok', text }]
}

const secrets: Check = async app => {
  const choices = (await (await app.find('secrets'))?.choices()) ?? []
  const current = choices.find(choice => choice.current)
  return [
    current
      ? { what: 'secrets', state: 'ok', text: `kept by the provider ${current.type}` }
      : {
          what: 'secrets',
          state: 'ok',
          text: 'not set up; `keelson secret setup` chooses where they are kept',
        },
  ]
}

const isWrong = ({ status }: Workload): boolean => !['running', 'stopped', 'starting'].includes(status)

const workloads: Check = async app => {
  const found = await (await app.service('workloads')).list({ all: true })
  const running = found.filter(({ status }) => status === 'running').length
  return [
    { what: 'workloads', state: 'ok', text: `${running} of ${found.length} are running` },
    ...found.filter(isWrong).map(({ name, status, status_context: context = '' }) => ({
      what: name,
      state: 'failed' as const,
      text: [status, context.split('\n', 1)[0]].filter(Boolean).join(': '),
      hint: `See \`keelson logs ${name}\` and \`keelson logs ${name} --proxy\`.`,
    })),
  ]
}

const CHECKS: Readonly<Record<string, Check>> = {
  program,
  folders,
  runtimes,
  isolation,
  supervisor,
  secrets,
  workloads,
}

/** What each check found, in their order; one that fails is a finding itself. */
export async function examine(app: App): Promise<Finding[]> {
  const findings = Object.entries(CHECKS).map(async ([what, check]): Promise<readonly Finding[]> => {
    try {
      return await check(app)
    } catch (error) {
      if (isFailure(error, 'no_runtime')) return [] // the check of the runtimes says it
      const hint = error instanceof Failure ? error.hint : undefined
      return [{ what, state: 'failed', text: messageOf(error), ...(hint ? { hint } : {}) }]
    }
  })
  return (await Promise.all(findings)).flat()
}
