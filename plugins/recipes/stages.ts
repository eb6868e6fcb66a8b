import type { CheckedOptions } from './recipe.ts'

/** Who servers run as in an image. */
const USER = 1000
const CA_FILE = 'ca-cert.crt'
const CA_PLACE = '/usr/local/share/ca-certificates/keelson-ca.crt'
const BUNDLE = '/etc/ssl/certs/ca-certificates.crt'
/** Says that the bundle holds the user's certificates and none of the public ones. */
const ALONE = '/etc/ssl/certs/.keelson-alone'

/** A command in exec form: no shell reads it, so nothing in it can be more than an argument. */
export const run = (...command: readonly string[]): string => `RUN ${JSON.stringify(command)}`

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

/** Shell words that are true when the image has what the package brings. */
const PRESENT: Readonly<Record<string, string>> = {
  git: 'command -v git',
  'ca-certificates': `test -s ${BUNDLE} -a ! -e ${ALONE}`,
  'python3-venv': "python3 -c 'import venv, ensurepip'",
}

/**
 * What the user asked for must be installed; what a scheme usually wants is installed only where it
 * is missing, and a base image that cannot install it may do without.
 */
function addPackages(asked: readonly string[], wants: readonly string[]): string[] {
  const looks = wants
    .filter(name => !asked.includes(name))
    .map(name => `{ ${PRESENT[name]} >/dev/null 2>&1 || want="$want ${name}"; }`)
  return [
    ...(looks.length > 0
      ? [`RUN want=''; ${looks.join('; ')}; test -z "$want" || { ${install('$want')}; } || true`]
      : []),
    ...(asked.length > 0 ? [`RUN ${install(asked.join(' '))}`] : []),
  ]
}

/** By what the image has, not by what it is called. */
const install = (names: string): string =>
  [
    `if command -v apk >/dev/null; then apk add --no-cache ${names}`,
    `elif command -v apt-get >/dev/null; then apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${names} && rm -rf /var/lib/apt/lists/*`,
    `elif command -v microdnf >/dev/null; then microdnf install -y ${names}`,
    `elif command -v dnf >/dev/null; then dnf install -y ${names}`,
    'else echo "this image has neither apk, apt-get nor dnf" >&2; false; fi',
  ].join('; ')

/** The image gets a user of that number, with a home it can write to, unless it has one. */
export const addUser = [
  `{ grep -q '^[^:]*:[^:]*:${USER}:' /etc/group || echo 'app:x:${USER}:' >>/etc/group; }`,
  `{ grep -q '^[^:]*:[^:]*:${USER}:' /etc/passwd || echo 'app:x:${USER}:${USER}::/home/app:/bin/sh' >>/etc/passwd; }`,
  'mkdir -p /home/app',
  `chown ${USER}:${USER} /home/app`,
].join(' && ')

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
