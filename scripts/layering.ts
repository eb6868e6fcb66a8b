import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { checkFolders } from './folder-circles.ts'
import { checkServices } from './service-uses.ts'

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'"\n]*(?:\{[^}]*\})?[^'"\n]*from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)\s*import\s*['"]([^'"]+)['"]|declare module ['"](\.[^'"]+)['"]/g

/**
 * Holds the direction of dependencies: plugins import the core, the core imports no plugin, a plugin
 * imports another only if it needs it and then only its `index.ts`; no two folders of a plugin import
 * each other. `src/lib` and `src/net` import nothing of ours but each other; what plugins say about
 * services is true (`checkServices`). Returns one line for each violation.
 */
export function checkLayering(root = '.'): string[] {
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  const files = globSync(['src/**/*.ts', 'plugins/**/*.ts'], { cwd: root }).sort()
  if (files.length < 10)
    throw new Error(`only ${files.length} files found: the check looks in the wrong place`)
  const needs = new Map(
    globSync('plugins/*/index.ts', { cwd: root }).map(
      file => [pluginOf(file), readNeeds(read(file))] as const,
    ),
  )
  const imports = files.flatMap(file =>
    importsOf(read(file))
      .filter(name => name.startsWith('.'))
      .map(name => ({ file, target: join(dirname(file), name) })),
  )
  const violations = imports
    .map(({ file, target }) => violation(file, target, needs))
    .filter(line => line !== undefined)
  return [
    ...violations,
    ...checkFolders(imports),
    ...checkServices(new Map(files.map(file => [file, read(file)]))),
  ]
}

/** Folders of code that knows nothing of the program around it. */
const LEAVES = ['src/lib/', 'src/net/']

/** Every module that a source text names, dynamically imported ones among them. */
export const importsOf = (source: string): string[] =>
  [...source.matchAll(IMPORT)].map(match => match[1] ?? match[2] ?? match[3] ?? match[4] ?? '')

const pluginOf = (file: string): string | undefined => /^plugins\/([^/]+)\//.exec(file)?.[1]

function readNeeds(source: string): readonly string[] {
  const list = /needs:\s*\[([^\]]*)\]/.exec(source)?.[1] ?? ''
  return [...list.matchAll(/'([^']+)'/g)].map(match => match[1] ?? '')
}

function violation(
  file: string,
  target: string,
  needs: ReadonlyMap<string | undefined, readonly string[]>,
): string | undefined {
  const from = pluginOf(file)
  const to = pluginOf(target)
  const leaf = LEAVES.find(folder => file.startsWith(folder))
  if (leaf && !LEAVES.some(folder => target.startsWith(folder))) return `${file}: ${leaf} imports ${target}`
  if (file === 'plugins/index.ts' || file === 'src/program.ts') return undefined
  if (file.startsWith('src/') && target.startsWith('plugins/')) return `${file}: the core imports ${target}`
  if (!from || !to || from === to) return undefined
  if (!needs.get(from)?.includes(to)) return `${file}: imports the plugin ${to}, which ${from} does not need`
  return target === `plugins/${to}/index.ts`
    ? undefined
    : `${file}: imports ${target} instead of its index.ts`
}
