import { assertVariables } from '../../src/contracts/variables.ts'
import type { Section } from '../../src/plugin.ts'

/** Refuses variables that no server may have, wherever the run config comes from. */
export const variablesSection: Section = {
  check: ({ env_vars = {} }) => assertVariables(env_vars),
}
