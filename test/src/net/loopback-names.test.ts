import { expect, test } from 'vitest'
import { canonicalLoopback, underAskedName } from '../../../src/net/loopback-names.ts'

test.each([
  ['http://localhost:8123/mcp', 'http://127.0.0.1:8123/mcp'],
  ['http://[::1]:8123', 'http://127.0.0.1:8123/'],
  ['https://localhost/mcp', 'https://localhost/mcp'],
  ['http://tools.example/mcp', 'http://tools.example/mcp'],
  ['not a URL', 'not a URL'],
])('%s is compared as %s', (text, canonical) => {
  expect(canonicalLoopback(text)).toBe(canonical)
})

test.each([
  ['localhost:8123', 'http://localhost:8123/mcp'],
  ['[::1]:8123', 'http://[::1]:8123/mcp'],
  ['127.0.0.1:8123', 'http://127.0.0.1:8123/mcp'],
])('a client that asked for %s knows it as %s', (host, url) => {
  expect(underAskedName('http://127.0.0.1:8123/mcp', host)).toBe(url)
})

test.each([
  ['of another port', 'http://127.0.0.1:8123/mcp', 'localhost:9000'],
  ['of another machine', 'http://127.0.0.1:8123/mcp', 'evil.example:8123'],
  ['that is none', 'http://127.0.0.1:8123/mcp', 'a b'],
  ['that is not sent', 'http://127.0.0.1:8123/mcp', undefined],
  ['of a server behind TLS', 'https://tools.example/mcp', 'localhost:443'],
])('a host %s changes nothing', (_, url, host) => {
  expect(underAskedName(url, host)).toBe(url)
})
