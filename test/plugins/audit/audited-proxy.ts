import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import audit from '../../../plugins/audit/index.ts'
import type { AuditConfig } from '../../../plugins/audit/section.ts'
import { createApp } from '../../../src/app.ts'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { type TestProxy, testProxy } from '../proxy/test-proxy.ts'

/** One line of an audit log, read. */
export interface Event {
  readonly audit_id: string
  readonly type: string
  readonly phase?: string
  readonly outcome: string
  readonly component: string
  readonly source: { value: string; extra: Record<string, string> }
  readonly subjects: Record<string, string>
  readonly delegation?: Record<string, unknown>
  readonly target: Record<string, string>
  readonly metadata: { extra: Record<string, unknown> }
  readonly data?: Record<string, unknown>
  readonly chain?: { seq: number; prev: string }
}

export const readEvents = (path: string): Event[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

export interface AuditedProxy extends TestProxy {
  readonly url: string
  readonly path: string
  events(): Event[]
}

/** The factories as the program has them, for one process. */
export function auditFactories(home: string): readonly MiddlewareFactory[] {
  const app = createApp({
    paths: findPaths({ HOME: home }),
    log: createLog({ write: () => {}, human: false, debug: false }),
    env: {},
    entries: [{ name: 'audit', services: ['auditLogs', 'auditRecords'], load: async () => audit }],
  })
  return (audit.provides?.middlewares ?? []).map(make => make(app))
}

/** A proxy with an audit log, in front of a server of this process. */
export async function auditedProxy(options: {
  target?: string
  audit?: AuditConfig
  config?: Partial<RunConfig>
  middlewares?: readonly MiddlewareFactory[]
  factories?: readonly MiddlewareFactory[]
}): Promise<AuditedProxy> {
  const folder = await temporaryFolder()
  const path = options.audit?.logFile ?? join(folder, 'audit.jsonl')
  const factories = options.factories ?? auditFactories(folder)
  const proxy = await testProxy({
    ...(options.target === undefined ? {} : { target: options.target }),
    config: { ...options.config, audit_config: { enabled: true, logFile: path, ...options.audit } },
    middlewares: [...factories, ...(options.middlewares ?? [])],
  })
  return {
    ...proxy,
    get access() {
      return proxy.access
    },
    url: `${proxy.origin}/mcp`,
    path,
    events: () => readEvents(path),
  }
}
