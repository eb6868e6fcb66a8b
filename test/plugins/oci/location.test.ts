import { expect, test } from 'vitest'
import { parseLocation, pinReference } from '../../../plugins/oci/location.ts'

const DIGEST = `sha256:${'a'.repeat(64)}`

test.each([
  ['busybox', 'docker.io', 'https://registry-1.docker.io', 'library/busybox', 'latest'],
  ['acme/app:1', 'docker.io', 'https://registry-1.docker.io', 'acme/app', '1'],
  ['index.docker.io/acme/app', 'docker.io', 'https://registry-1.docker.io', 'acme/app', 'latest'],
  ['ghcr.io/a/b/c:v1', 'ghcr.io', 'https://ghcr.io', 'a/b/c', 'v1'],
  [
    'Registry.Example.com:8443/app',
    'registry.example.com:8443',
    'https://registry.example.com:8443',
    'app',
    'latest',
  ],
  ['localhost:5000/app', 'localhost:5000', 'http://localhost:5000', 'app', 'latest'],
  ['127.0.0.2:5000/app', '127.0.0.2:5000', 'http://127.0.0.2:5000', 'app', 'latest'],
  ['[::1]:5000/app', '[::1]:5000', 'http://[::1]:5000', 'app', 'latest'],
  ['10.0.0.1:5000/app', '10.0.0.1:5000', 'https://10.0.0.1:5000', 'app', 'latest'],
  ['localhost.example.com/app', 'localhost.example.com', 'https://localhost.example.com', 'app', 'latest'],
  ['lab.example.com/app', 'lab.example.com', 'http://lab.example.com', 'app', 'latest'],
])('%s is at %s, spoken to as %s', (reference, registry, origin, repository, tag) => {
  const location = parseLocation(reference, new Set(['lab.example.com']))
  expect(location).toEqual({ reference, registry, origin, repository, tag, digest: undefined })
})

test('a digest that cannot be checked is refused', () => {
  expect(() => parseLocation(`app@md5:${'a'.repeat(32)}`, new Set())).toThrow(/only sha256 and sha512/)
})

test.each([
  ['app:1', `app@${DIGEST}`],
  ['localhost:5000/app', `localhost:5000/app@${DIGEST}`],
  [`ghcr.io/a/app:1@sha256:${'b'.repeat(64)}`, `ghcr.io/a/app@${DIGEST}`],
])('%s is pinned as %s', (reference, pinned) => {
  expect(pinReference(reference, DIGEST)).toBe(pinned)
})
