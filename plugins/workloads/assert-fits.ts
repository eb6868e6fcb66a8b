import { failures as core } from '../../src/errors.ts'
import type { RunRequest } from './build-config.ts'
import { FLAG_EFFECTS, type FlagContext, nameOfRemote } from './flag-effects.ts'

/** Refuses flags that have no effect on this run, instead of ignoring them silently. */
export function assertFits(
  context: FlagContext,
  { given, repeated, options, serverArgs }: Pick<RunRequest, 'given' | 'repeated' | 'options' | 'serverArgs'>,
): void {
  const values: Readonly<Record<string, unknown>> = { ...options }
  const hasLogin = [...given].some(name => name.startsWith('oidc-'))
  for (const name of given) {
    if (repeated?.has(name)) continue
    const why = Object.hasOwn(FLAG_EFFECTS, name)
      ? FLAG_EFFECTS[name]?.({ ...context, hasLogin }, values[name])
      : undefined
    if (why !== undefined) {
      throw core.usage({ text: `--${name} does not go with ${why}`, hint: 'Leave it out.' })
    }
  }
  if (context.kind === 'remote' && serverArgs.length > 0) {
    throw core.usage({
      text: `Arguments behind -- do not go with ${nameOfRemote(context.argument)}.`,
      hint: 'Leave them out.',
    })
  }
}
