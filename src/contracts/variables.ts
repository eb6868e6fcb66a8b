import { runtimeFailures } from './runtime-failures.ts'

/**
 * Variables that no server is given, in any runtime.
 *
 * They do not configure a program: they make the system's loader, C library or shell run other code in
 * whatever is started next. Between keelson and a server that is an engine's init, a shell, a starter, and
 * no server needs them from outside: what an image needs of them stands in the image. Variables that
 * act on the server's own interpreter (NODE_OPTIONS, PYTHONPATH, JAVA_TOOL_OPTIONS) are not among them, since
 * none of keelson's programs ever sees a server's variables.
 */
export const REFUSED_VARIABLES: readonly RegExp[] = [
  /^LD_/, // ld.so(8)
  /^DYLD_/, // dyld(1) of macOS
  /^(GCONV_PATH|GLIBC_TUNABLES)$/, // glibc: modules of iconv(3), and how ld.so itself works
  /^(BASH_ENV|SHELLOPTS|BASHOPTS)$|^BASH_FUNC_/, // bash(1): files and functions of every shell, also as sh
  /^KEELSON_INSTANCE$/, // the process runtime tells by it whose processes are whose
]

/** Refuses variables that a server is never given, and what no process could have. Fails with `env_refused`. */
export function assertVariables(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    assertVariableName(name)
    if (value.includes('\0'))
      throw runtimeFailures.env_refused({ name, problem: 'its value holds a NUL character.' })
  }
}

/** Refuses the name alone, where the value comes later. */
export function assertVariableName(name: string): void {
  const refuse = (problem: string) => runtimeFailures.env_refused({ name, problem })
  if (name === '' || /[=\0]/.test(name)) {
    throw refuse('a name is not empty and holds neither "=" nor NUL.')
  }
  if (REFUSED_VARIABLES.some(refused => refused.test(name))) {
    throw refuse('it would change which code the programs around a server run, so no server is given it.')
  }
}
