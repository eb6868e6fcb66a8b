import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { defineConfig } from 'tsup'
import { bundleArguments } from './plugins/egress/helper/bundle-helper.ts'

/*
 * The program is built as CommonJS of few files: Node reads one large file, of which it keeps what it has compiled (see
 * src/main.ts), much faster than the hundreds of modules of which a command needs some.
 *
 *   main.js           checks the version of Node and loads program.js
 *   program.js        all code of ours, of which each part runs when it is first imported
 *   libraries/*.js    libraries, loaded when something that needs them runs
 *   plugin-api.mjs    what third-party plugins import
 */

const programs = globSync('plugins/**/programs/*.{cjs,py,sh}').sort()
const sources = [...globSync(['src/**/*.ts', 'plugins/**/*.ts']).sort(), ...programs]

/** Identifies a build by its sources, so that a supervisor of another build is handed over. */
const hash = createHash('sha256')
for (const file of sources) hash.update(file).update(readFileSync(file))

/** The egress proxy as one file, to be run in the helper of an engine that is elsewhere. */
const helper = execFileSync(
  'node_modules/.bin/esbuild',
  bundleArguments('plugins/egress/helper/helper-main.ts'),
  {
    encoding: 'utf8',
  },
)

const CEDAR = 'cedar_wasm_bg.wasm'

/** Every command needs these. */
const OWN_LIBRARIES = /^(?:clipanion|typanion)$/

/** Names of libraries, as they are imported, by the file that they are in. */
const libraries = new Map<string, Set<string>>()

const fileOf = (name: string): string => (name.split('/')[0] as string).replace('@', '')

/** Puts libraries into files of their own. */
const separateLibraries: Plugin = {
  name: 'separate-libraries',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
      const isOurs = /\.ts$/.test(importer)
      if (kind === 'entry-point' || !isOurs || path.startsWith('node:') || OWN_LIBRARIES.test(path)) return
      return { path, namespace: 'library' }
    })
    build.onLoad({ filter: /.*/, namespace: 'library' }, ({ path }) => {
      const file = fileOf(path)
      libraries.set(file, (libraries.get(file) ?? new Set()).add(path))
      const library = `require('./libraries/${file}.js')[${JSON.stringify(path)}]`
      // Whoever imports the default of CommonJS gets all of it.
      return { contents: `module.exports = ${library}${DEFAULTS.has(path) ? '.default' : ''}`, loader: 'js' }
    })
    build.onResolve({ filter: /^\.\/libraries\//, namespace: 'library' }, ({ path }) => ({
      path,
      external: true,
    }))
  },
}

/** Libraries of which our code uses the default export. */
const DEFAULTS = new Set(
  sources.flatMap(file =>
    [
      ...readFileSync(file, 'utf8').matchAll(
        /^import \w+(?:, \{[^}]*\})? from '([^'.][^']*)'|default: \w+ \} = await import\('([^'.][^']*)'\)/gm,
      ),
    ].map(([, stated, awaited]) => String(stated ?? awaited)),
  ),
)

/** `import()` of a CommonJS file would have Node look through all of it for exports. */
const requireProgram: Plugin = {
  name: 'require-program',
  setup(build) {
    build.onLoad({ filter: /src\/main\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(
        "import('./program.ts')",
        "Promise.resolve(require('./program.js') as typeof import('./program.ts'))",
      ),
      loader: 'ts',
    }))
    build.onResolve({ filter: /^\.\/program\.js$/ }, ({ path }) => ({ path, external: true }))
  },
}

const HERE = "const __here = require('node:url').pathToFileURL(__filename).href;"

const common: BuildOptions = {
  bundle: true,
  platform: 'node',
  target: 'node22',
  format: 'cjs',
  minifySyntax: true,
  minifyWhitespace: true,
  mainFields: ['module', 'main'],
  define: { 'import.meta.url': '__here' },
  banner: { js: HERE },
}

async function buildLibraries(): Promise<void> {
  for (const [file, names] of libraries) {
    const contents = [...names]
      .map((name, n) => `import * as l${n} from '${name}'\nexport { l${n} as '${name}' }\n`)
      .join('')
    await build({
      ...common,
      stdin: { contents, resolveDir: '.', sourcefile: `${file}.js` },
      outfile: `dist/libraries/${file}.js`,
      logLevel: 'error',
    })
  }
}

async function writePluginApi(): Promise<void> {
  const program = await import(new URL('dist/program.js', import.meta.url).href)
  const names = Object.keys(await program.loadPluginApi())
  const lines = [
    "import program from './program.js'",
    'const api = await program.loadPluginApi()',
    ...names.map(name => `export const ${name} = api.${name}`),
  ]
  await writeFile('dist/plugin-api.mjs', `${lines.join('\n')}\n`)
}

export default defineConfig({
  entry: { main: 'src/main.ts', program: 'src/bundle.ts' },
  format: 'cjs',
  target: 'node22',
  platform: 'node',
  outExtension: () => ({ js: '.js' }),
  splitting: false,
  clean: true,
  dts: false,
  noExternal: [/.*/],
  esbuildPlugins: [separateLibraries, requireProgram],
  esbuildOptions(options) {
    options.minify = true
    options.charset = 'ascii'
    options.define = { ...options.define, ...common.define }
    options.banner = { js: HERE }
    // Their ESM builds, which can be shaken: by default the bundler would take CommonJS.
    options.alias = {
      clipanion: './node_modules/clipanion/lib/advanced/index.mjs',
      typanion: './node_modules/typanion/lib/index.mjs',
    }
  },
  /** The page of `serve --ui` is sent as it is; the module of Cedar is read by plugins/authz/cedar/load-cedar.ts. */
  async onSuccess() {
    await writeFile('dist/package.json', '{"type":"commonjs"}\n')
    // The types are those of plugin-api.mjs.
    await mkdir('dist/types', { recursive: true })
    await writeFile('dist/types/package.json', '{"type":"module"}\n')
    await buildLibraries()
    await writePluginApi()
    await cp('plugins/serve/ui/page', 'dist/page', { recursive: true })
    await cp(`node_modules/@cedar-policy/cedar-wasm/web/${CEDAR}`, `dist/${CEDAR}`)
  },
  define: {
    __KEELSON_BUILD__: JSON.stringify(hash.digest('hex').slice(0, 12)),
    __KEELSON_PROGRAMS__: JSON.stringify(
      Object.fromEntries(programs.map(file => [file, readFileSync(file, 'utf8')])),
    ),
    __KEELSON_EGRESS_HELPER__: JSON.stringify(helper),
  },
})
