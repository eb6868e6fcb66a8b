import { defineFailures } from '../../src/errors.ts'

/** What went wrong with a registry. Texts name hosts, never whole URLs: those may carry signatures or tokens. */
export const failures = defineFailures({
  oci_reference: {
    status: 400,
    text: (d: { reference: string; problem: string }) =>
      `"${d.reference}" cannot be used as a reference: ${d.problem}`,
  },
  oci_missing: {
    status: 404,
    text: (d: { reference: string; registry: string }) => `${d.registry} has no ${d.reference}.`,
    hint: 'Check the name and the tag. Some registries also respond like this when a login is needed.',
  },
  oci_denied: {
    status: 403,
    text: (d: {
      reference: string
      registry: string
      /** Where the refused credentials come from; undefined: none were found. */
      credentials: string | undefined
      problems: readonly string[]
    }) =>
      `${d.registry} gives no access to ${d.reference} ${
        d.credentials ? `with the credentials in ${d.credentials}` : 'without credentials'
      }.${d.problems.map(problem => ` ${problem}`).join('')}`,
    hint: d => `Log in with \`docker login ${d.registry}\` or \`podman login ${d.registry}\`.`,
  },
  oci_realm: {
    status: 502,
    text: (d: { registry: string; problem: string }) =>
      `${d.registry} asks for a login in a way that is not safe: ${d.problem}`,
    hint: 'Nothing was sent there. Tell whoever runs the registry.',
  },
  oci_unreachable: {
    status: 502,
    text: (d: { reference: string; registry: string; problem: string }) =>
      `${d.registry}, asked for ${d.reference}, could not be reached: ${d.problem}.`,
    hint: 'Check the name of the registry and the network.',
  },
  oci_tls: {
    status: 502,
    text: (d: { reference: string; registry: string; problem: string }) =>
      `${d.registry}, asked for ${d.reference}, has no certificate that is trusted here (${d.problem}).`,
    hint: 'For an authority of your own, name its certificate file in NODE_EXTRA_CA_CERTS.',
  },
  oci_timeout: {
    status: 504,
    text: (d: { reference: string; registry: string; problem: string }) =>
      `${d.registry} takes too long with ${d.reference}: ${d.problem}.`,
  },
  oci_busy: {
    status: 503,
    text: (d: { reference: string; registry: string; status: number }) =>
      `${d.registry} refuses to serve ${d.reference} now (status ${d.status}).`,
    hint: d =>
      d.status === 429 ? `Its limit is reached; it may be higher after a login.` : 'Try again later.',
  },
  oci_broken: {
    status: 502,
    text: (d: { reference: string; registry: string; problem: string }) =>
      `${d.registry} returned something unusable for ${d.reference}: ${d.problem}.`,
  },
  oci_digest: {
    status: 502,
    text: (d: { reference: string; registry: string; wanted: string; found: string }) =>
      `${d.registry} sent other content for ${d.reference} than its digest says: ${d.found} instead of ${d.wanted}.`,
    hint: 'The content was discarded. The registry, or something between it and this machine, has changed it.',
  },
  oci_too_large: {
    status: 502,
    text: (d: { reference: string; registry: string; limit: number }) =>
      `What ${d.registry} sends for ${d.reference} is larger than ${d.limit} bytes.`,
  },
})
