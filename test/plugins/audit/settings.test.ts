import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readAuditFile } from '../../../plugins/audit/read-audit-file.ts'
import { auditOf } from '../../../plugins/audit/section.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { temporaryFolder } from './audited-proxy.ts'

test.each([
  ['[]', 'not a JSON object'],
  ['{"eventTypes":["mcp_tool_cal"]}', 'unknown type "mcp_tool_cal"'],
  ['{"logFile":"relative.jsonl"}', 'absolute path'],
  ['{"onError":"stop"}', 'onError'],
  ['{"eventTypes":[],\n"logFile" "/a"}', 'colon expected at line 2, column 11'],
  ['{"exclude":["a"]}', 'the member "exclude" is unknown'],
  ['{"maxDataSize":-1}', 'maxDataSize is a number from 0'],
  ['{"maxFileSize":10}', 'maxFileSize is at least'],
  ['{"maxDataSize":"1"}', 'maxDataSize'],
])('the file %s is refused', async (text, problem) => {
  const path = join(await temporaryFolder(), 'audit.json')
  await writeFile(path, text)
  await expect(readAuditFile(path)).rejects.toThrow(problem)
})

test('an empty file asks for an audit with the defaults', async () => {
  const path = join(await temporaryFolder(), 'audit.json')
  await writeFile(path, '{"component":null}')
  expect(await readAuditFile(path)).toMatchObject({ enabled: true })
})

test.each([
  null,
  {},
  { enabled: false, component: 'a' },
  { component: '', eventTypes: null, maxDataSize: 0 },
])('the section %j asks for none', audit_config => {
  const config = { schema_version: 'v0.1.0', name: 'a', transport: 'stdio', port: 0, audit_config }
  expect(auditOf(config as RunConfig)).toBeUndefined()
})
