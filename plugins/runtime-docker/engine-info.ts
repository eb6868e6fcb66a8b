import type { Dialect } from './dialect.ts'
import type { EngineCli } from './engine-cli.ts'
import type { EngineFacts } from './engine-facts.ts'

/** What an engine prints for `infoArguments`, asked once in a process; a failure is not kept. */
export interface EngineInfo {
  read(): Promise<unknown>
  /** Takes over an output that is known already. */
  set(found: unknown): void
}

export function createEngineInfo(options: {
  dialect: Dialect
  cli: EngineCli
  facts: EngineFacts
}): EngineInfo {
  const { dialect, cli, facts } = options
  let known: Promise<unknown> | undefined
  return {
    read() {
      known ??= facts
        .get(dialect.infoArguments, () => cli.run(dialect.infoArguments, { doing: 'report its features' }))
        .then((text): unknown => JSON.parse(text))
        .catch(error => {
          known = undefined
          throw error
        })
      return known
    },
    set(found) {
      known = Promise.resolve(found)
    },
  }
}
