import type { BuildVariables } from './build-settings.ts'

const ENV_FILE = 'build-env'
const SECRETS_FILE = 'build-secrets'
const AUTH_FILE = /^build-auth-/
const PLACE = '/keelson'

/** Files of the build context that hold values; readable for their owner only. */
export const isConfidential = (path: string): boolean =>
  path === ENV_FILE || path === SECRETS_FILE || AUTH_FILE.test(path)

/** Whether a file with logins is among them. */
export const holdsSecrets = (files: ReadonlyMap<string, string>): boolean =>
  [...files.keys()].some(path => AUTH_FILE.test(path))

/** Labels what the stage that fetches is from the moment on at which it holds values. */
export const withStageLabel = (dockerfile: string, label: string): string =>
  dockerfile.replace(/^COPY build-(?:env|auth-).*$/m, line => `${line}\nLABEL ${label}`)

/** Shorter values would be found in any program. */
const SHORTEST = 8

/**
 * The variables as a file that the steps of the stage that fetches read, and the files with logins beside
 * it. As `ENV` or `ARG` their values would stand in arguments and in the history of images.
 */
export function variableFiles({ values, secrets, authFiles }: BuildVariables): [string, string][] {
  const lines = [...values].map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`)
  const patterns = patternsOf(secrets)
  return [
    ...(lines.length > 0 ? [[ENV_FILE, lines.join('')] satisfies [string, string]] : []),
    ...[...authFiles].map(([name, content]) => [`build-auth-${name}`, content] satisfies [string, string]),
    ...(patterns.length > 0 ? [[SECRETS_FILE, `${patterns.join('\n')}\n`] satisfies [string, string]] : []),
  ]
}

const patternsOf = (secrets: readonly string[]): string[] =>
  secrets.flatMap(value => value.split('\n')).filter(line => line.length >= SHORTEST)

/**
 * A stage whose steps see the variables, and find the files with logins where npm, pip, go and git look
 * for them. It ends with a look for secrets in the folder that is taken over from it: a tool that wrote
 * one down there fails the build.
 */
export function withVariables(stage: readonly string[], variables: BuildVariables, folder: string): string[] {
  const [from = '', ...steps] = stage
  const copied = variableFiles(variables).map(([path]) => path)
  if (copied.length === 0) return [...stage]
  const links = [...variables.authFiles.keys()].map(
    name => `ln -sf ${PLACE}/build-auth-${name} "\${HOME:-/root}/.${name}"`,
  )
  return [
    from,
    `COPY ${copied.join(' ')} ${PLACE}/`,
    ...(links.length ? [`RUN ${links.join(' && ')}`] : []),
    ...(variables.values.size ? steps.map(reading) : steps),
    ...(copied.includes(SECRETS_FILE)
      ? [
          `RUN if grep -rqFf ${PLACE}/${SECRETS_FILE} ${folder}; then echo "The package wrote a secret of the build into its files." >&2; false; fi`,
        ]
      : []),
  ]
}

function reading(step: string): string {
  if (!step.startsWith('RUN ')) return step
  const command = step.slice('RUN '.length)
  if (!command.startsWith('[')) return `RUN . ${PLACE}/${ENV_FILE}; ${command}`
  const words: string[] = JSON.parse(command)
  return `RUN ${JSON.stringify(['/bin/sh', '-c', `. ${PLACE}/${ENV_FILE}; exec "$@"`, 'sh', ...words])}`
}
