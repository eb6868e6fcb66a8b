import { globSync, readFileSync } from 'node:fs'
import { type BuildOptions, build, type Metafile } from 'esbuild'

/**
 * The files that the program is built into, each with the modules that it is for. A module is in the first one whose
 * modules import it, other than by `import()`; what none of them imports is in the last. What both `run` and `workloads`
 * import is in the first.
 */
const PARTS = {
  /** Finds the command. Some commands are so quick that to load a second file would take longer than they do. */
  program: ['src/bundle.ts', 'src/program.ts', 'plugins/completion/index.ts', 'plugins/version/index.ts'],
  /** The flags of `run`, those of other plugins among them. */
  run: ['plugins/workloads/commands/run.ts', ...flagModules()],
  /** What `list` needs. */
  workloads: [
    'plugins/workloads/commands/list-workloads.ts',
    'plugins/workloads/index.ts',
    'plugins/workloads/service.ts',
    'plugins/state/index.ts',
    'plugins/state/workload-store.ts',
  ],
  /** All other commands. */
  commands: globSync(['plugins/*/index.ts', 'plugins/workloads/commands/*.ts']).sort(),
  services: [],
}

/** Libraries that every command needs. They are modules of the first part. */
export const OWN_LIBRARIES = ['clipanion']

export type Part = keyof typeof PARTS

/** What the modules of the program export, and which of them are in which part. */
export interface Modules {
  readonly parts: readonly Part[]
  partOf(module: string): Part
  exportsOf(module: string): readonly string[]
  /** The modules of a part that modules of other parts import. */
  exposedBy(part: Part): readonly string[]
}

const SILENT: BuildOptions = {
  write: false,
  metafile: true,
  outdir: '.',
  format: 'esm',
  packages: 'external',
}

/** Reads the imports of the modules behind `src/bundle.ts`. All paths are relative to the working directory. */
export async function findModules(): Promise<Modules> {
  const { metafile } = await build({
    ...SILENT,
    entryPoints: ['src/bundle.ts'],
    bundle: true,
    logLevel: 'error',
  })
  const inputs = metafile?.inputs ?? {}
  const modules = Object.keys(inputs).filter(path => path.endsWith('.ts'))
  const parts = Object.keys(PARTS) as Part[]
  const found = new Map<string, Part>()
  for (const part of parts) {
    const members = part === 'services' ? modules : closureOf(PARTS[part], inputs)
    for (const module of members) {
      const earlier = found.get(module)
      if (!earlier) found.set(module, part)
      // Else `list` would read the file of `run`, too.
      else if (earlier === 'run' && part === 'workloads') found.set(module, 'program')
    }
  }
  for (const library of OWN_LIBRARIES) found.set(library, 'program')
  const partOf = (module: string) => found.get(module) as Part
  const crossing = modules.flatMap(from =>
    (inputs[from]?.imports ?? [])
      .map(({ path }) => path)
      .filter(to => found.has(to) && partOf(to) !== partOf(from)),
  )
  const { metafile: each } = await build({ ...SILENT, entryPoints: modules, outbase: '.' })
  const exported = new Map(
    Object.values(each?.outputs ?? {}).map(({ entryPoint = '', exports }) => [entryPoint, exports]),
  )
  for (const library of OWN_LIBRARIES) exported.set(library, await namesOf(library))
  return {
    parts,
    partOf,
    exportsOf: module => exported.get(module) ?? [],
    exposedBy: part =>
      [...new Set([...OWN_LIBRARIES, ...crossing])].filter(module => partOf(module) === part).sort(),
  }
}

/** The exports of a library. Node adds `default` and `module.exports` to those of CommonJS. */
export const namesOf = async (library: string): Promise<string[]> =>
  Object.keys(await import(library)).filter(name => name !== 'default' && /^\w+$/.test(name))

/** The modules, and those that they import other than by `import()`. */
function closureOf(modules: readonly string[], inputs: Metafile['inputs']): ReadonlySet<string> {
  const closure = new Set(modules)
  for (const module of closure) {
    for (const { path, kind } of inputs[module]?.imports ?? []) {
      if (kind === 'import-statement' && path.endsWith('.ts')) closure.add(path)
    }
  }
  return closure
}

/** The modules of flags that the list of plugins loads without the rest of a plugin. */
function flagModules(): string[] {
  const list = readFileSync('plugins/index.ts', 'utf8')
  return [...list.matchAll(/import\('\.\/(\S*\/flags\.ts)'\)/g)].map(([, path]) => `plugins/${path}`)
}
