import { expect, test } from 'vitest'
import { failures } from '../../../plugins/runtime-docker/failures.ts'

const hintOf = (problem: string) => failures.build_failed({ runtime: 'docker', image: 'x', problem }).hint

test.each([
  'npm error code SELF_SIGNED_CERT_IN_CHAIN',
  'ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed',
  'tls: failed to verify certificate: x509: certificate signed by unknown authority',
])('a build that meets a foreign certificate points to --ca-cert: %s', problem => {
  expect(hintOf(problem)).toContain('--ca-cert')
})

test('the hint on certificates is left out for other failures of a build', () => {
  expect(hintOf('npm error 404 Not Found')).toBeUndefined()
})
