import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Static imports and re-exports of values; types are gone when the program runs. */
const STATIC = /^(?:import|export)\s+(?!type\b)(?:[^'"]*?\bfrom\s*)?['"]([^'"]+)['"]/gm

/** What the command line itself is made of, and the small one that finds mistakes in files. */
const ALLOWED = /^(?:node:|clipanion$|typanion$|jsonc-parser$)/

/**
 * Holds that a command waits for no library that it does not use: the entry of a plugin, which every command loads that
 * takes its flags, reaches libraries only by `import()`. Returns one line for each that it reaches at once.
 */
export function checkEagerLibraries(root = '.'): string[] {
  return globSync('plugins/*/index.ts', { cwd: root })
    .sort()
    .flatMap(entry =>
      [...eagerLibraries(root, entry)].map(
        ([library, file]) => `${entry} loads ${library} at once, by ${file}: use import() where it is needed`,
      ),
    )
}

/** The libraries that a module reaches by static imports, each with the file that names it. */
function eagerLibraries(root: string, entry: string): Map<string, string> {
  const found = new Map<string, string>()
  const seen = new Set([entry])
  for (const file of seen) {
    for (const [, name = ''] of readFileSync(join(root, file), 'utf8').matchAll(STATIC)) {
      if (name.startsWith('.')) seen.add(join(dirname(file), name))
      else if (!ALLOWED.test(name)) found.set(name, file)
    }
  }
  return found
}
