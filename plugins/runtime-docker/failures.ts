import { defineFailures } from '../../src/errors.ts'

/** What can go wrong with images; the rest is in `src/contracts/runtime-failures.ts`. */
export const failures = defineFailures({
  image_missing: {
    status: 404,
    text: (d: { runtime: string; image: string }) => `${d.runtime} has no image "${d.image}" on this host.`,
    hint: 'Pull or build it first, and check the spelling.',
  },
  image_in_use: {
    status: 409,
    text: (d: { runtime: string; image: string }) =>
      `${d.runtime} cannot remove the image "${d.image}": a container uses it.`,
    hint: 'Remove that container first.',
  },
  pull_failed: {
    status: 502,
    text: (d: { runtime: string; image: string; problem: string }) =>
      `${d.runtime} could not pull "${d.image}": ${d.problem}`,
    hint: 'Check the spelling and the network; private images need a login to their registry.',
  },
  image_registry_unreachable: {
    status: 502,
    text: (d: { runtime: string; doing: string; host: string }) =>
      `${d.runtime} could not ${d.doing}: the registry ${d.host} cannot be reached.`,
    hint: d =>
      `Check the network and the settings for a proxy of this machine and of ${d.runtime}, and the spelling of the image. What is needed is fetched once; \`keelson run\` works without a network after that.`,
  },
  image_unknown: {
    status: 404,
    text: (d: { runtime: string; image: string; problem: string }) =>
      `${d.runtime} could not pull "${d.image}", because its registry has no such image: ${d.problem}`,
    hint: 'Check the spelling; private images need a login to their registry.',
  },
  build_failed: {
    status: 502,
    text: (d: { runtime: string; image: string; problem: string }) =>
      `${d.runtime} could not build "${d.image}". Its last output:\n${d.problem}`,
    // The words of npm, Node, Python, Go and curl.
    hint: d =>
      /SELF_SIGNED_CERT|UNABLE_TO_\w*CERT|CERTIFICATE_VERIFY_FAILED|x509: certificate|SSL certificate problem/.test(
        d.problem,
      )
        ? 'Something between here and the registry signs TLS anew: give its certificates with --ca-cert.'
        : undefined,
  },
})
