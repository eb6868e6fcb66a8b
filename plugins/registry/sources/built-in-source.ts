import { parseRegistry } from '../formats/parse-registry.ts'
import type { Source } from './registry-source.ts'

/** Our own catalogue, which comes with the program. */
export const builtInSource = (): Source => ({
  kind: 'default',
  place: 'built-in catalogue',
  async read() {
    const { readCatalogue } = await import('../catalogue/built-in-catalogue.ts')
    return parseRegistry(readCatalogue(), 'built-in catalogue')
  },
})
