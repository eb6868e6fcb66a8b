import { readFileSync } from 'node:fs'
import { namesOf } from './parts.ts'

/**
 * The text of a CommonJS module that evaluates `load`, an expression for another module, when one of its exports is
 * first used.
 */
export const loadLater = (load: string, names: readonly string[]): string => `
let found
for (const name of ${JSON.stringify(names)})
  Object.defineProperty(module.exports, name, { get: () => (found ??= ${load})[name], enumerable: true })`

/** The exports of a library or a module of Node that the given sources name. */
export async function usedNames(path: string, sources: readonly string[]): Promise<string[]> {
  const users = sources.map(file => readFileSync(file, 'utf8')).filter(text => text.includes(`'${path}'`))
  return (await namesOf(path)).filter(name => users.some(text => new RegExp(`\\b${name}\\b`).test(text)))
}
