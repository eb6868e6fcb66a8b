import type { Section } from '../../src/plugin.ts'
import { parseReferences } from './reference.ts'

/** Checks the references, wherever the run config came from. */
export const secretsSection: Section = {
  check: ({ secrets = [] }) => void parseReferences(secrets),
}
