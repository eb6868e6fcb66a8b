import type { Schema } from '../lib/schema.ts'
import { toTextCheck } from '../lib/text-schema.ts'
import { runtimeFailures } from './runtime-failures.ts'

/**
 * Variables that no server may have, in any runtime.
 *
 * They do not configure a program: they make the system's loader, C library or shell run other code in
 * whatever starts next, for example an engine's init, a shell or our starter. No server needs them from
 * outside: an image sets the ones that it needs. Variables for the server's own interpreter (NODE_OPTIONS,
 * PYTHONPATH, JAVA_TOOL_OPTIONS) are allowed, since none of keelson's programs sees a server's variables.
 */
export const REFUSED_VARIABLES: readonly RegExp[] = [
  /^LD_/, // ld.so(8)
  /^DYLD_/, // dyld(1) of macOS
  /^(GCONV_PATH|GLIBC_TUNABLES)$/, // glibc: modules of iconv(3), and how ld.so itself works
  /^(BASH_ENV|SHELLOPTS|BASHOPTS)$|^BASH_FUNC_/, // bash(1): files and functions of every shell, also as sh
  /^KEELSON_INSTANCE$/, // the process runtime identifies its processes by it
]

/** The schema of a variable's name. */
export const variableName: Schema<string> = {
  type: 'string',
  pattern: '^[^=\\u0000]+$',
  minLength: 1,
  description: 'Not empty, without "=" and NUL',
}
const canBeName = toTextCheck(variableName)

/** Refuses variables that no server may have, and those that no process can have. Fails with `env_refused`. */
export function assertVariables(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    assertVariableName(name)
    if (value.includes('\0'))
      throw runtimeFailures.env_refused({ name, problem: 'its value contains a NUL character.' })
  }
}

/** Refuses the name alone, where the value comes later. */
export function assertVariableName(name: string): void {
  // What follows an "=" may be a secret.
  const refuse = (problem: string) => runtimeFailures.env_refused({ name: name.replace(/=.*/s, ''), problem })
  if (!canBeName(name)) {
    throw refuse('a name must not be empty and must not contain "=" or NUL.')
  }
  if (REFUSED_VARIABLES.some(refused => refused.test(name))) {
    throw refuse('it could make the programs that start a server run other code, so no server may have it.')
  }
}
