import { isAbsolute } from 'node:path'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { isEmpty } from '../../src/lib/is-empty.ts'
import { isObject } from '../../src/lib/is-object.ts'
import { nullable, type ObjectOf, object, optional, text } from '../../src/lib/schema.ts'
import { suggest } from '../../src/lib/suggest.ts'
import type { Section } from '../../src/plugin.ts'
import { auditMembers } from './audit-members.ts'
import { KNOWN_TYPES } from './event-types.ts'
import { failures } from './failures.ts'
import { auditRequest } from './section-request.ts'
import { syslogProblem } from './syslog-address.ts'

const members = {
  audit_config: optional(nullable(object(auditMembers))),
  /** A file with the same members; it is read when the workload is made. */
  audit_config_path: optional(nullable(text)),
}

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

export type AuditConfig = NonNullable<RunConfig['audit_config']>

/** What the run config says of the audit; undefined where it asks for none. */
export function auditOf({ audit_config: said }: RunConfig): AuditConfig | undefined {
  return said && !isEmpty(said) && said.enabled !== false ? said : undefined
}

const SMALLEST_FILE = 4096

/** Checks the members that say what is recorded, and where. */
export const auditSection: Section = {
  members,
  request: auditRequest,
  middlewareEntries: [
    {
      type: 'audit',
      parameter: 'config_data',
      member: 'audit_config',
      isAsk: true,
      defaults: { enabled: true },
      // A text, because `false` counts as not said.
      plain: value => (isObject(value) ? { ...value, enabled: value.enabled === false ? 'no' : true } : {}),
      repeats: {
        config_path: 'audit_config_path',
        component: ['audit_config.component', 'name'],
        transport_type: 'transport',
      },
    },
  ],
  check(config) {
    const audit = auditOf(config)
    if (audit) assertUsable(audit)
  },
}

const wrong = (problem: string, hint?: string) => failures.audit_config_invalid({ problem, hint })

/** Fails with `audit_config_invalid`. */
export function assertUsable(audit: AuditConfig): void {
  const [unknown] =
    Object.entries(audit).find(([name, value]) => !Object.hasOwn(auditMembers, name) && !isEmpty(value)) ?? []
  if (unknown !== undefined) {
    const near = suggest(unknown, Object.keys(auditMembers))
    throw wrong(`the member "${unknown}" is unknown`, near && `Did you mean ${near}?`)
  }
  for (const list of ['eventTypes', 'excludeEventTypes'] as const) {
    for (const type of audit[list] ?? []) {
      if (KNOWN_TYPES.has(type)) continue
      const near = suggest(type, [...KNOWN_TYPES])
      throw wrong(`${list} names the unknown type "${type}"`, near && `Did you mean ${near}?`)
    }
  }
  for (const name of ['maxDataSize', 'maxDelegationDepth', 'maxFiles', 'maxFileSize'] as const) {
    if ((audit[name] ?? 0) < 0) throw wrong(`${name} is a number from 0`)
  }
  if (audit.maxFileSize && audit.maxFileSize < SMALLEST_FILE) {
    throw wrong(`maxFileSize is at least ${SMALLEST_FILE} bytes`)
  }
  const problem = audit.syslog ? syslogProblem(audit.syslog) : undefined
  if (problem !== undefined) throw wrong(problem)
  if (audit.hashChain && audit.syslog && !audit.logFile) {
    throw wrong('a hash chain needs a logFile beside the syslog')
  }
  if (audit.logFile && !isAbsolute(audit.logFile)) {
    throw wrong(`logFile is an absolute path, not "${audit.logFile}"`)
  }
}
