import { expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { allNeed } from '../../support/left-out.ts'
import { prometheus, prometheusProblem } from '../../support/prometheus.ts'
import { post, rpc, testServer } from '../proxy/test-proxy.ts'
import { telemetryProxy } from './telemetry-proxy.ts'

allNeed(prometheusProblem())

test('a real Prometheus scrapes the metrics, and counts the calls of a tool', {
  timeout: 120_000,
}, async () => {
  const target = await testServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{"jsonrpc":"2.0","id":1,"result":{}}')
  })
  const prometheusPort = await freePort()
  const { origin } = await telemetryProxy({
    target,
    config: { name: 'seen' },
    telemetry: { enablePrometheusMetricsPath: true, prometheusPort },
  })
  const { query } = await prometheus(prometheusPort)
  for (let n = 0; n < 3; n++) await post(`${origin}/mcp`, rpc('tools/call', 1, { name: 'echo' }))
  const valuesOf = async (text: string) => (await query(text)).map(({ value }) => value[1])
  const slow = { timeout: 90_000 }
  await expect.poll(() => valuesOf('up{job="keelson"}'), slow).toEqual(['1'])
  await expect
    .poll(() => valuesOf('toolhive_mcp_tool_calls_total{server="seen",tool="echo",status="success"}'), slow)
    .toEqual(['3'])
  await expect
    .poll(
      () => valuesOf('sum(mcp_server_operation_duration_seconds_count{mcp_method_name="tools/call"})'),
      slow,
    )
    .toEqual(['3'])
})
