import { join } from 'node:path'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Paths } from '../../src/paths.ts'
import { type AuditConfig, auditOf } from './section.ts'
import type { SyslogAddress } from './syslog-address.ts'

/** What is recorded of one workload. */
export interface AuditSettings {
  readonly component: string
  /** Whether events of this type are written. */
  isWanted(type: string): boolean
  readonly includeRequestData: boolean
  readonly includeResponseData: boolean
  readonly detectApplicationErrors: boolean
  /** In bytes. */
  readonly maxDataSize: number
  readonly maxDelegationDepth: number
  /** Requests that cannot be recorded are refused. */
  readonly isStrict: boolean
  /** Undefined: lines go elsewhere alone. */
  readonly file: LogSettings | undefined
  readonly syslog: SyslogAddress | undefined
  /** Lines are sent to the endpoint of the telemetry, too. */
  readonly otlp: boolean
}

/** The file that lines go to. */
export interface LogSettings {
  readonly path: string
  /** Whether the file is one of ours, whose folder is made when it is missing. */
  readonly isOwn: boolean
  /** In bytes. */
  readonly maxFileSize: number
  /** Undefined: all are kept. */
  readonly maxFiles: number | undefined
  readonly hashChain: boolean
}

const DATA_BYTES = 1024
const FILE_BYTES = 100 * 1024 * 1024
const DELEGATION_DEPTH = 10

/** The settings of a workload; undefined where its run config asks for no audit. */
export function settingsOf(config: RunConfig, paths: Paths): AuditSettings | undefined {
  const audit = auditOf(config)
  if (!audit) return undefined
  const only = new Set(audit.eventTypes ?? [])
  const not = new Set(audit.excludeEventTypes ?? [])
  return {
    component: audit.component || config.name,
    isWanted: type => !not.has(type) && (only.size === 0 || only.has(type)),
    includeRequestData: audit.includeRequestData === true,
    includeResponseData: audit.includeResponseData === true,
    detectApplicationErrors: audit.detectApplicationErrors !== false,
    maxDataSize: audit.maxDataSize || DATA_BYTES,
    maxDelegationDepth: audit.maxDelegationDepth || DELEGATION_DEPTH,
    isStrict: audit.onError === 'refuse',
    file: fileOf(audit, join(paths.data, 'audit', `${config.name}.jsonl`)),
    syslog: audit.syslog || undefined,
    otlp: audit.otlp === true,
  }
}

/** `own` is the file where none is named. */
function fileOf(audit: AuditConfig, own: string): LogSettings | undefined {
  if (audit.syslog && !audit.logFile) return undefined
  return {
    path: audit.logFile || own,
    isOwn: !audit.logFile,
    maxFileSize: audit.maxFileSize || FILE_BYTES,
    maxFiles: audit.maxFiles || undefined,
    hashChain: audit.hashChain === true,
  }
}
