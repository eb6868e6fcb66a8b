import { failures } from './failures.ts'

const NAME = /^[A-Z][A-Z0-9_]*$/
const RESERVED = new Set(
  'PATH HOME USER SHELL PWD HOSTNAME TERM LANG LC_ALL LD_PRELOAD LD_LIBRARY_PATH'.split(' '),
)
/** Characters that a shell in a Dockerfile would act on. */
const DANGEROUS = /[`$;|&<>(){}[\]*?!#~\\"'\n\r\0]/

/** Fails unless a variable of that name may be set while images are built. */
export function assertBuildName(name: string): void {
  const problem = !NAME.test(name)
    ? 'a name is made of capital letters, digits and "_", a letter first'
    : RESERVED.has(name)
      ? 'builds depend on it'
      : undefined
  if (problem) throw failures.build_env_invalid({ name, problem })
}

/** Fails unless the value is free of what a shell would act on. The value itself is not shown. */
export function assertBuildValue(name: string, value: string): void {
  if (!DANGEROUS.test(value)) return
  throw failures.build_env_invalid({
    name,
    problem: 'its value holds a line break or a character that a shell acts on',
  })
}
