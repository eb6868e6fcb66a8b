import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import type { Plugin } from 'esbuild'
import { loadLater, usedNames } from './load-later.ts'
import { type Modules, namesOf, OWN_LIBRARIES, type Part } from './parts.ts'

export const CLIPANION = 'node_modules/clipanion/lib'

const fileOf = (name: string): string => (name.split('/')[0] as string).replace('@', '')

/** Libraries of which the sources import the default export. */
const defaultsIn = (sources: readonly string[]): ReadonlySet<string> =>
  new Set(
    sources.flatMap(file =>
      [
        ...readFileSync(file, 'utf8').matchAll(
          /^import \w+(?:, \{[^}]*\})? from '([^'.][^']*)'|default: \w+ \} = await import\('([^'.][^']*)'\)/gm,
        ),
      ].map(([, stated, awaited]) => String(stated ?? awaited)),
    ),
  )

/**
 * Puts libraries into files of their own, whose names are added to `libraries`. They, and modules of Node, are loaded
 * when they are first used: a command uses few of those that its modules import.
 */
export function separateLibraries(sources: readonly string[], libraries: Map<string, Set<string>>): Plugin {
  const defaults = defaultsIn(sources)
  return {
    name: 'separate-libraries',
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, ({ path, kind, importer, namespace }) => {
        const isOurs = namespace === 'file' && (importer.endsWith('.ts') || importer.includes(CLIPANION))
        if (kind === 'entry-point' || !isOurs || OWN_LIBRARIES.includes(path)) return
        return { path, namespace: path.startsWith('node:') ? 'node' : 'library' }
      })
      build.onLoad({ filter: /.*/, namespace: 'node' }, async ({ path }) => ({
        contents: loadLater(`require('${path}')`, await usedNames(path, sources)),
      }))
      build.onLoad({ filter: /.*/, namespace: 'library' }, async ({ path }) => {
        const file = fileOf(path)
        libraries.set(file, (libraries.get(file) ?? new Set()).add(path))
        const library = `require('./libraries/${file}.js')[${JSON.stringify(path)}]`
        // Whoever imports the default of CommonJS gets all of it.
        if (defaults.has(path)) return { contents: `module.exports = ${library}.default` }
        return { contents: loadLater(library, await usedNames(path, sources)) }
      })
      build.onResolve({ filter: /^\.\/libraries\//, namespace: 'library' }, ({ path }) => ({
        path,
        external: true,
      }))
    },
  }
}

/** Reads the modules of other parts from their files. */
export function separateParts(own: Part, modules: Modules): Plugin {
  return {
    name: 'separate-parts',
    setup(build) {
      build.onResolve({ filter: /^(?:\..*\.ts|clipanion)$/ }, ({ path, importer, kind }) => {
        if (kind === 'require-call' || !importer.endsWith('.ts')) return undefined
        const module = path.startsWith('.') ? relative('.', resolve(dirname(importer), path)) : path
        return modules.partOf(module) === own ? undefined : { path: module, namespace: 'other-part' }
      })
      build.onLoad({ filter: /.*/, namespace: 'other-part' }, ({ path }) => {
        const exported = modules
          .exportsOf(path)
          .map(name => `export ${name === 'default' ? name : `const ${name} =`} found.${name}`)
        const found = `require('./${modules.partOf(path)}.js').modules[${JSON.stringify(path)}]()`
        const contents = [`const found = ${found}`, ...exported].join('\n')
        return { contents }
      })
      build.onResolve({ filter: /.*/, namespace: 'other-part' }, ({ path }) => ({ path, external: true }))
    },
  }
}

/** fastify loads these at its start, and uses them for HTTPS, HTTP/2 and plugins that name a version: never here. */
export const loadRareLater: Plugin = {
  name: 'load-rare-later',
  setup(build) {
    build.onResolve({ filter: /^(?:node:http2|node:https|semver)$/ }, ({ path, importer }) =>
      importer.includes('/node_modules/fastify/') ? { path, namespace: 'later' } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: 'later' }, async ({ path }) => ({
      contents: loadLater(`require('${path}')`, await namesOf(path)),
      resolveDir: '.',
    }))
  },
}

/** clipanion opens standard input and loads `tty` for a context of its own; `runCli` gives each command its streams. */
export const withoutDefaultContext: Plugin = {
  name: 'without-default-context',
  setup(build) {
    build.onResolve({ filter: /^\.\.\/platform$/ }, () => ({
      path: resolve(CLIPANION, 'platform/browser.mjs'),
    }))
    build.onLoad({ filter: /clipanion\/lib\/advanced\/Cli\.mjs$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const contents = text.replace(/^Cli\.defaultContext = \{[^}]*\};$/m, 'Cli.defaultContext = {};')
      if (contents === text) throw new Error('clipanion no longer has a default context')
      return { contents }
    })
  },
}
