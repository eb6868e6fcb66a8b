import type { RunConfig } from '../../../src/contracts/run-config.ts'

/** A line that is about something the server was not given, in the words of servers and of Python's `KeyError`. */
const COMPLAINT =
  /\b(environment|env|variables?|missing|required?|requires|must|unset|undefined|provide|set|KeyError)\b/i
/** Words with an underscore in capitals, as most variables of servers are named. */
const VARIABLE = /\b[A-Z][A-Z0-9]{0,63}(?:_[A-Z0-9]{1,64})+\b/g
/** Codes of errors, and what is set for the tools that start a server. */
const OTHER = /^(ERR|MODULE|NODE|NPM|PYTHON|UV|LD|DYLD)_/
const MOST = 3

/** The variables that the last lines of a server ask for, for example `GITHUB_TOKEN`; those that it was given are left out. */
export function missingVariables(
  lines: readonly string[],
  { env_vars = {}, secrets = [] }: Pick<RunConfig, 'env_vars' | 'secrets'>,
): string[] {
  const given = new Set([
    ...Object.keys(env_vars),
    ...secrets.map(secret => secret.slice(secret.lastIndexOf('=') + 1)),
  ])
  const named = lines.filter(line => COMPLAINT.test(line)).flatMap(line => line.match(VARIABLE) ?? [])
  return [...new Set(named)].filter(name => !OTHER.test(name) && !given.has(name)).slice(0, MOST)
}
