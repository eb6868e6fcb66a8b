import { failures as core } from '../../src/errors.ts'
import type { RunRequest } from './build-config.ts'
import { FLAG_EFFECTS, nameOfRemote, type Situation } from './flag-effects.ts'

/** Refuses flags that can have no effect in the situation; nothing asked for is left out in silence. */
export function assertFits(
  situation: Situation,
  { given, repeated, values, serverArgs }: Pick<RunRequest, 'given' | 'repeated' | 'values' | 'serverArgs'>,
): void {
  for (const name of given) {
    if (repeated?.has(name)) continue
    const why = Object.hasOwn(FLAG_EFFECTS, name) ? FLAG_EFFECTS[name]?.(situation, values[name]) : undefined
    if (why !== undefined) {
      throw core.usage({ text: `--${name} does not go with ${why}`, hint: 'Leave it out.' })
    }
  }
  if (situation.kind === 'remote' && serverArgs.length > 0) {
    throw core.usage({
      text: `Arguments behind -- do not go with ${nameOfRemote(situation.argument)}.`,
      hint: 'Leave them out.',
    })
  }
}
