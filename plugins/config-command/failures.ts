import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  ca_cert_invalid: {
    status: 400,
    text: (d: { path: string; problem: string }) => `${d.path} is not a CA certificate: ${d.problem}.`,
    hint: 'It must be a file of one or more certificates in PEM format.',
  },
  build_env_invalid: {
    status: 400,
    exit: 2,
    text: (d: { name: string; problem: string }) => `"${d.name}" cannot be set for builds: ${d.problem}.`,
  },
})
