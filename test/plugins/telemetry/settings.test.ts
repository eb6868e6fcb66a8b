import { expect, test } from 'vitest'
import { assertUsable } from '../../../plugins/telemetry/assert-usable.ts'
import { parseEndpoint } from '../../../plugins/telemetry/endpoint.ts'
import { telemetryPreparation } from '../../../plugins/telemetry/preparation.ts'
import type { TelemetryConfig } from '../../../plugins/telemetry/section.ts'
import { telemetryRequest } from '../../../plugins/telemetry/section-request.ts'
import { settingsOf } from '../../../plugins/telemetry/settings.ts'
import type { App } from '../../../src/app.ts'
import { programHelp } from '../../../src/cli/help.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'

test.each([
  ['a.example:4318', false, 'https://a.example:4318'],
  ['a.example:4318', true, 'http://a.example:4318'],
  ['a.example/otlp/', false, 'https://a.example/otlp'],
  ['http://[::1]:4318', false, 'http://[::1]:4318'],
  ['https://a.example', false, 'https://a.example'],
])('the endpoint %s (insecure: %s) is %s', (said, insecure, base) => {
  expect(parseEndpoint(said, { insecure })).toEqual({ base })
})

const unusable: [problem: string, said: TelemetryConfig][] = [
  ['HOST:PORT', { endpoint: 'user:secret@a.example' }],
  ['HOST:PORT', { endpoint: 'a.example?x=1' }],
  ['HOST:PORT', { endpoint: 'a b' }],
  ['scheme "grpc"', { endpoint: 'grpc://a.example' }],
  ['insecurely', { endpoint: 'https://a.example', insecure: true }],
  ['neither traces nor metrics', { endpoint: 'a', tracingEnabled: false, metricsEnabled: false }],
  ['from 0 to 1', { samplingRate: '2' }],
  ['from 0 to 1', { samplingRate: 'half' }],
  ['cannot be a header', { headers: { 'a b': 'x' } }],
  ['cannot be a header', { headers: { Host: 'x' } }],
  ['characters', { headers: { a: 'x\r\ny: z' } }],
  ['environment variable', { environmentVariables: ['A=B'] }],
  ['absolute path', { caCertPath: 'ca.pem' }],
]
test.each(unusable)('what cannot be used is refused: %s', (problem, said) => {
  expect(() => assertUsable(said)).toThrow(problem)
  expect(() => assertUsable(said)).not.toThrow('secret')
})

test('a document that turns on one signal only, as ToolHive exports it, sends no other', () => {
  const sent = (telemetry_config: TelemetryConfig) => {
    const config: RunConfig = {
      schema_version: 'v0.1.0',
      name: 'a',
      transport: 'stdio',
      port: 0,
      telemetry_config,
    }
    const { tracing, metrics } = settingsOf(config)
    return [tracing, metrics]
  }
  expect(sent({ endpoint: 'a' })).toEqual([true, true])
  expect(sent({ endpoint: 'a', tracingEnabled: true })).toEqual([true, false])
  expect(sent({ endpoint: 'a', metricsEnabled: true })).toEqual([false, true])
  expect(sent({ endpoint: 'a', tracingEnabled: false })).toEqual([false, true])
})

test('variables that go to one endpoint go to no other that a request over HTTP names', () => {
  const set = (endpoint: string) =>
    telemetryRequest.toMembers?.(
      { telemetry_config: { endpoint, environmentVariables: ['REGION'] } },
      { telemetry_config: { endpoint: 'a.example', environmentVariables: ['REGION'] } },
    )
  expect(set('a.example')).toMatchObject({ telemetry_config: { endpoint: 'a.example' } })
  expect(() => set('b.example')).toThrow('environmentVariables')
})

test('a run config of a stranger does not turn HTTPS off', async () => {
  const config = { name: 'a', telemetry_config: { endpoint: 'a.example:4318', insecure: true } }
  const complete = (options: object) =>
    telemetryPreparation({} as App).complete?.(
      config as unknown as RunConfig,
      { options: { 'from-config': 'a.json', 'otel-endpoint': 'a.example:4318', ...options } } as never,
    )
  await expect(complete({})).rejects.toMatchObject({ code: 'telemetry_unconfirmed' })
  await expect(complete({ 'otel-insecure': true })).resolves.toEqual(config)
})

test('the help says that no usage metrics are sent', () => {
  expect(programHelp([], '1.0.0')).toContain('sends no usage metrics')
})
