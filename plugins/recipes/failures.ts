import { defineFailures } from '../../src/errors.ts'
import { PACKAGE_FORM } from '../../src/lib/package-reference.ts'

/**
 * The messages of Node, npm, pip, uv, curl, git and Go when a name is not found or an address cannot be
 * reached.
 */
const WANTS_NETWORK =
  /ENOTFOUND|EAI_AGAIN|ENETUNREACH|ENOTCACHED|Network is unreachable|[Nn]ame (?:or service not known|resolution)|[Cc]ould(?: not|n't) resolve|fetch failed/

export const failures = defineFailures({
  recipe_package_invalid: {
    status: 400,
    exit: 2,
    text: (d: { scheme: keyof typeof PACKAGE_FORM; package: string }) =>
      `"${d.package}" is not a package that ${d.scheme}:// can run.`,
    hint: (d: { scheme: keyof typeof PACKAGE_FORM }) => `Write ${PACKAGE_FORM[d.scheme]}.`,
  },
  recipe_package_absent: {
    status: 404,
    text: (d: { package: string; problem: string }) => `There is no package ${d.package}: ${d.problem}`,
    hint: 'Check the name and the version.',
  },
  recipe_package_unfit: {
    status: 400,
    text: (d: { package: string; problem: string }) =>
      `${d.package} does not run on the Python of its image: ${d.problem}`,
    hint: 'Choose a base image with a Python that it supports with --runtime-image.',
  },
  recipe_option_invalid: {
    status: 400,
    exit: 2,
    text: (d: { flag: string; value: string; wanted: string }) =>
      `--${d.flag} takes ${d.wanted}, not "${d.value}".`,
  },
  recipe_option_useless: {
    status: 400,
    exit: 2,
    text: (d: { flag: string; where: string }) => `--${d.flag} has no effect on ${d.where}.`,
    hint: 'Leave it out.',
  },
  recipe_ca_invalid: {
    status: 400,
    text: (d: { what: string; path: string; problem: string }) => `${d.what} ${d.path} ${d.problem}`,
    hint: 'Give a file with one or more certificates in PEM form.',
  },
  recipe_build_env_invalid: {
    status: 400,
    text: (d: { name: string }) => `The settings have a variable for builds that cannot be set: "${d.name}".`,
    hint: 'A name is made of capital letters, digits and "_", a letter first; a value has no NUL character.',
  },
  recipe_build_auth_missing: {
    status: 404,
    text: (d: { name: string }) =>
      `The settings name a file with logins for builds that is not there: "${d.name}".`,
    hint: d =>
      `Give it again with \`keelson config set-build-auth-file ${d.name} < FILE\`, or remove it with \`keelson config unset-build-auth-file ${d.name}\`.`,
  },
  recipe_scripts_failed: {
    status: 502,
    text: (d: { packages: string; words: string }) =>
      `The install scripts of ${d.packages} failed. They ran without network and without logins. Last output:\n${d.words}`,
    hint: d =>
      WANTS_NETWORK.test(d.words)
        ? 'It failed because it has no network. To let its code reach the package registries while the image is built, say --allow-build-network; for other hosts, say --allow-build-host HOST.'
        : 'If its code needs the network while the image is built, allow that with --allow-build-network or --allow-build-host HOST.',
  },
  recipe_scripts_denied: {
    status: 502,
    text: (d: { packages: string; denied: string; words: string }) =>
      `The install scripts of ${d.packages} failed. They wanted to reach ${d.denied}, which is not allowed. Last output:\n${d.words}`,
    hint: 'To let its code reach a host while the image is built, say --allow-build-host HOST.',
  },
  recipe_no_module: {
    status: 400,
    text: (d: { path: string }) => `${d.path} is not Go code: neither it nor a folder above has a go.mod.`,
    hint: 'Run `go mod init` there, or name another folder.',
  },
  recipe_no_images: {
    status: 400,
    text: (d: { runtime: string }) => `The ${d.runtime} runtime has no images, so none can be built for it.`,
    hint: 'Choose docker or podman with --runtime.',
  },
})
