import { expect, test } from 'vitest'
import { composeSchemas } from '../../../../plugins/workloads/http/schemas.ts'
import { toDetails } from '../../../../plugins/workloads/http/to-details.ts'
import { toRunRequest } from '../../../../plugins/workloads/http/to-run-request.ts'
import type { App } from '../../../../src/app.ts'
import type { RunConfig } from '../../../../src/contracts/run-config.ts'
import type { RunOptions } from '../../../../src/contracts/run-options.ts'
import { sectionRequest } from '../../../../src/http/section-request.ts'
import { object, optional, text, textMap } from '../../../../src/lib/schema.ts'
import type { Section } from '../../../../src/plugin.ts'

const members = { header_forward: optional(object({ add_plaintext_headers: optional(textMap) })) }
const headers: Section = {
  members,
  request: sectionRequest({
    body: { ...members, oauth_config: optional(object({ issuer: optional(text) })) },
    details: { oauth_config: object({ issuer: text }) },
    toOptions: ({ header_forward: { add_plaintext_headers: plain = {} } = {} }) =>
      ({ 'forward-header': Object.entries(plain).map(pair => pair.join('=')) }) as RunOptions,
    toMembers: ({ oauth_config }) => ({ ...(oauth_config?.issuer ? { source: oauth_config.issuer } : {}) }),
    toDetails: () => ({ oauth_config: { issuer: 'https://login.example' } }),
    keptWithTarget: ['header_forward' as never],
  }),
}

const target = () => ({ kind: 'remote', accepts: () => true })
const appWith = (...sections: Section[]) =>
  ({
    contributions: async (kind: string) =>
      kind === 'sections' ? sections : kind === 'targets' ? [target] : [],
  }) as unknown as App
const signal = new AbortController().signal
const asked = (more: object = {}) => ({ name: 'w', url: 'https://server.example/mcp', ...more })
const config = (more: object = {}): RunConfig => ({
  schema_version: 'v0.1.0',
  name: 'w',
  transport: 'streamable-http',
  port: 0,
  remote_url: 'https://server.example/mcp',
  ...more,
})
const body = asked({ header_forward: { add_plaintext_headers: { A: '1' } } })

test('a body sets the options and members of a section', async () => {
  const more = { oauth_config: { issuer: 'https://login.example' } }
  const request = await toRunRequest(appWith(headers), { ...body, ...more }, { signal })
  expect(request.options).toMatchObject({ 'forward-header': ['A=1'] })
  expect(request.kept).toEqual({ source: 'https://login.example' })
})

test('a member of a body that no section has is refused', async () => {
  await expect(toRunRequest(appWith(), body, { signal })).rejects.toMatchObject({
    code: 'section_unenforced',
  })
  const named = asked({ tools: ['a'] })
  await expect(toRunRequest(appWith(headers), named, { signal })).rejects.toMatchObject({
    code: 'request_unsupported',
    message: 'tools is not supported here yet.',
  })
})

test('an edit keeps the members of a section, or is refused where it cannot', async () => {
  const replaces = config({ header_forward: { add_plaintext_headers: { A: '1' } } })
  const request = await toRunRequest(appWith(headers), asked(), { signal, replaces })
  expect(request.kept).toEqual({ header_forward: { add_plaintext_headers: { A: '1' } } })
  await expect(toRunRequest(appWith(), asked(), { signal, replaces })).rejects.toMatchObject({
    code: 'section_unenforced',
  })
})

test('schemas and details have the members of a section', () => {
  const requests = headers.request ? [headers.request] : []
  const { createBody, editBody, workloadDetails } = composeSchemas(requests)
  expect(createBody.properties?.header_forward).toEqual(members.header_forward)
  expect(editBody.properties?.header_forward).toEqual(members.header_forward)
  expect(workloadDetails.properties?.oauth_config).toEqual(object({ issuer: text }))
  expect(toDetails(config(), requests)).toMatchObject({ oauth_config: { issuer: 'https://login.example' } })
})
