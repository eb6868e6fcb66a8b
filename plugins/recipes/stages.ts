import type { CheckedOptions } from './recipe.ts'
import { recipeProgram } from './recipe-program.ts'

/** Who servers run as in an image. */
const USER = 1000
const CA_FILE = 'ca-cert.crt'
const CA_PLACE = '/usr/local/share/ca-certificates/keelson-ca.crt'
const BUNDLE = '/etc/ssl/certs/ca-certificates.crt'
/** Says that the bundle holds the user's certificates and none of the public ones. */
const ALONE = '/etc/ssl/certs/.keelson-alone'

/** A command in exec form: no shell reads it, so nothing in it can be more than an argument. */
export const run = (...command: readonly string[]): string => `RUN ${JSON.stringify(command)}`

/** Runs a shell program of `programs/` whose text stands in the Dockerfile, so that it leaves no file in the image. */
export const runProgram = (file: string, ...args: readonly string[]): string =>
  run('/bin/sh', '-c', recipeProgram(file, { BUNDLE, ALONE }), file, ...args)

/** The beginning of a stage: trust first, since everything after it may use the network. `trusts`: its tools, too. */
export function beginStage(
  image: string,
  { ca, packages }: Pick<CheckedOptions, 'ca' | 'packages'>,
  { as, wants, trusts = false }: { as: string; wants: readonly string[]; trusts?: boolean },
): string[] {
  return [
    `FROM ${image} AS ${as}`,
    'USER 0',
    ...(ca === undefined
      ? []
      : [
          `COPY ${CA_FILE} ${CA_PLACE}`,
          `RUN mkdir -p /etc/ssl/certs && { test -s ${BUNDLE} || touch ${ALONE}; } && cat ${CA_PLACE} >>${BUNDLE}`,
          ...(trusts ? [TRUST] : []),
        ]),
    ...addPackages(packages, wants),
  ]
}

/** Each tool has its own variable for the certificates it trusts. */
const TRUST = `ENV ${[
  `NODE_EXTRA_CA_CERTS=${CA_PLACE}`,
  ...['SSL_CERT_FILE', 'PIP_CERT', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO'].map(
    name => `${name}=${BUNDLE}`,
  ),
].join(' ')}`

/** The file that `beginStage` copies. */
export const caFiles = (ca: string | undefined): [string, string][] =>
  ca === undefined ? [] : [[CA_FILE, ca]]

/**
 * What the user asked for must be installed; what a scheme usually wants is installed only where it
 * is missing, and a base image that cannot install it may do without.
 */
function addPackages(asked: readonly string[], wants: readonly string[]): string[] {
  const usual = wants.filter(name => !asked.includes(name))
  return [
    ...(usual.length > 0 ? [runProgram('add_packages.sh', 'missing', ...usual)] : []),
    ...(asked.length > 0 ? [runProgram('add_packages.sh', 'required', ...asked)] : []),
  ]
}

/** The image gets a user of that number, with a home it can write to, unless it has one. */
export const addUser = (): string => runProgram('add_user.sh', String(USER))

/** The end of the image: the program, owned by a user without rights, since some servers write beside their code. */
export function endStage(args: readonly string[], env: readonly string[] = []): string[] {
  return [
    `COPY --from=builder --chown=${USER}:${USER} /app /app`,
    'WORKDIR /app',
    `ENV ${['HOME=/home/app', ...env].join(' ')}`,
    `USER ${USER}:${USER}`,
    `ENTRYPOINT ${JSON.stringify(['/app/mcp-server', ...args])}`,
  ]
}

export const toDockerfile = (lines: readonly string[]): string => `${lines.join('\n')}\n`
