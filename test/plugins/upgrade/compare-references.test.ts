import { expect, test } from 'vitest'
import { compareReferences } from '../../../plugins/upgrade/compare-references.ts'

const DIGEST = `sha256:${'a'.repeat(64)}`

test.each([
  ['example/time:1.0.0', 'example/time:1.0.1', 'newer'],
  ['example/time:v1.0', 'example/time:1.1.0', 'newer'],
  ['example/time:2.0.0', 'example/time:1.9.0', 'not-newer'],
  ['example/time:1.0.0', 'example/time:v1', 'not-newer'],
  ['example/time:stable', 'example/time:stable', 'not-newer'],
  ['time:1', 'docker.io/library/time:2', 'newer'],
  ['index.docker.io/example/time:1', 'example/time:2', 'newer'],
  ['GHCR.io/example/time:1', 'ghcr.io/example/time:2', 'newer'],
  ['localhost:5000/time:1', 'localhost:5000/time:2', 'newer'],
  ['npx://@example/time@1.2.3', 'npx://@example/time@1.3.0', 'newer'],
  ['uvx://my_time[cli]==1.2.3', 'uvx://My-Time@1.3.0', 'newer'],
  ['go://example.test/time@v1.2.3', 'go://example.test/time@v1.2.3', 'not-newer'],
])('beside %s, %s is %s', (current, candidate, kind) => {
  expect(compareReferences(current, candidate)).toEqual({ kind })
})

test.each([
  [`example/time@${DIGEST}`, 'example/time:2', /current reference has a digest/],
  [`example/time:1@${DIGEST}`, 'example/time:2', /current reference has a digest/],
  ['example/time:1', `example/time:2@${DIGEST}`, /candidate reference has a digest/],
  ['NOT AN IMAGE', 'example/time:2', /current reference .* cannot be read/],
  ['example/time:1', 'nuget://Example.Time@2', /candidate reference .* cannot be read/],
  ['go:///home/me/time', 'go://example.test/time@v1.0.0', /current reference/],
  ['example/time:1', 'other/time:2', /another repository: docker.io\/other\/time/],
  ['ghcr.io/example/time:1', 'example/time:2', /another repository/],
  ['npx://time@1', 'uvx://time@2', /another repository/],
  ['example/time:latest', 'example/time:2', /current tag is latest/],
  ['example/time', 'example/time:2', /current tag is latest/],
  ['example/time:1', 'example/time', /candidate tag is latest/],
  ['npx://time', 'npx://time@2', /current tag is latest/],
  ['example/time:stable', 'example/time:edge', /not both versions/],
  ['example/time:1.0.0', 'example/time:edge', /not both versions/],
])('it is not known whether %s or %s is newer', (current, candidate, reason) => {
  expect(compareReferences(current, candidate)).toEqual({
    kind: 'unknown',
    reason: expect.stringMatching(reason),
  })
})
