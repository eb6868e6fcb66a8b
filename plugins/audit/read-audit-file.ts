import { resolve } from 'node:path'
import { describeJsonError } from '../../src/lib/json-error.ts'
import { parseObject } from '../../src/lib/parse-object.ts'
import { object } from '../../src/lib/schema.ts'
import { findErrors } from '../../src/schema-check.ts'
import { readUserFile } from '../../src/user-file.ts'
import { auditMembers } from './audit-members.ts'
import { failures } from './failures.ts'
import { type AuditConfig, assertUsable } from './section.ts'

/** Reads the file of `--audit-config`. Fails with `audit_config_unreadable`, or as the section does. */
export async function readAuditFile(file: string): Promise<AuditConfig> {
  const path = resolve(file)
  const text = await readUserFile(path, 'The --audit-config file')
  const members = parseObject(text)
  if (!members) throw failures.audit_config_unreadable({ path, problem: describeJsonError(text) })
  const problem = findErrors(object(auditMembers), members)
  if (problem !== undefined) throw failures.audit_config_unreadable({ path, problem })
  const audit: AuditConfig = members
  assertUsable(audit)
  return { ...audit, enabled: audit.enabled ?? true }
}
