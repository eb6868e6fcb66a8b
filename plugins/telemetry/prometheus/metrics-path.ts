import type { Middleware } from '../../../src/contracts/pipeline.ts'
import { sendOwnResponse } from '../../proxy/index.ts'
import type { ScrapeReader } from '../metrics/scrape-reader.ts'
import { PROMETHEUS_TYPE, toPrometheusText } from './to-text.ts'

/** Serves `/metrics` of one workload on the port of its proxy, outside authentication. */
export const createMetricsPath = (reader: ScrapeReader): Middleware => ({
  name: 'telemetry-metrics',
  stage: 'well-known',
  wrap: next => exchange => {
    if (exchange.url.split('?', 1)[0] !== '/metrics') return next(exchange)
    const { method } = exchange.request
    const isRead = method === 'GET' || method === 'HEAD'
    const send = (status: number, contentType: string, text: string) =>
      sendOwnResponse(exchange, {
        status,
        contentType,
        body: Buffer.from(text),
        headers: isRead ? {} : { allow: 'GET, HEAD' },
      })
    if (!isRead) return send(405, 'text/plain', 'Method not allowed')
    return reader.scrape().then(scopes => send(200, PROMETHEUS_TYPE, toPrometheusText(scopes)))
  },
})
