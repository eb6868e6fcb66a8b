import { expect, test } from 'vitest'
import { unreachableHost } from '../../../plugins/runtime-docker/unreachable-host.ts'

test.each([
  [
    'Step 1/9 : FROM node:24-alpine AS tools\nGet "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io on 10.0.0.1:53: no such host',
    'registry-1.docker.io',
  ],
  [
    'Error: initializing source docker://busybox:latest: pinging container registry r.example: Get "https://r.example:5000/v2/": dial tcp 10.0.0.1:5000: connect: connection refused',
    'r.example:5000',
  ],
  [
    'ERROR: failed to solve: a: dial tcp: lookup r.example: Temporary failure in name resolution',
    'r.example',
  ],
  // A build step without network says the same, but the build ends with another line.
  ['lookup proxy.example: no such host\nThe command returned a non-zero code: 1', undefined],
  ['manifest unknown', undefined],
])('of %j the unreachable registry is %s', (output, host) => {
  expect(unreachableHost(output)).toBe(host)
})
