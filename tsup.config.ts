import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { defineConfig } from 'tsup'
import { bundleArguments } from './plugins/egress/helper/bundle-helper.ts'
import { pageArguments } from './plugins/serve/ui/bundle-page.ts'
import { findModules, type Modules, type Part } from './scripts/build/parts.ts'
import {
  CLIPANION,
  loadRareLater,
  separateLibraries,
  separateParts,
  withoutDefaultContext,
} from './scripts/build/separate.ts'

/*
 * The program is built as CommonJS of few files: Node reads one large file, of which it keeps what it has compiled (see
 * src/main.ts), much faster than the hundreds of modules of which a command needs some.
 *
 *   main.js           checks the version of Node and loads program.js
 *   program.js        finds the command; run.js, workloads.js, commands.js and services.js hold the rest (see
 *                     scripts/build/parts.ts), of which each module runs when it is first imported
 *   tui-view.mjs      the view of `tui` with its library, which is an ES module
 *   libraries/*.js    libraries, loaded when something of theirs is used
 *   plugin-api.mjs    what third-party plugins import
 */

const programs = globSync('plugins/**/programs/*.{cjs,py,sh}').sort()
const modules = globSync(['src/**/*.ts', 'plugins/**/*.ts']).sort()

/** Identifies a build by its sources, so that a supervisor of another build is handed over. */
const hash = createHash('sha256')
for (const file of [...modules, ...programs]) hash.update(file).update(readFileSync(file))
const BUILD = hash.digest('hex').slice(0, 12)

/** The egress proxy as one file, to be run in the helper of an engine that is elsewhere. */
const helper = execFileSync(
  'node_modules/.bin/esbuild',
  bundleArguments('plugins/egress/helper/helper-main.ts'),
  {
    encoding: 'utf8',
  },
)

const CEDAR = 'cedar_wasm_bg.wasm'
/** The best quality takes ten times as long and saves another tenth. */
const QUICK = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

/** Names of libraries, as they are imported, by the file that they are in. */
const libraries = new Map<string, Set<string>>()

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
  logLevel: 'error',
}

async function buildPart(part: Part, all: Modules): Promise<void> {
  const exposed = all
    .exposedBy(part)
    .map(
      module =>
        `${JSON.stringify(module)}: () => require('${module.endsWith('.ts') ? './' : ''}${module}'),\n`,
    )
  const entry = part === 'program' ? "export * from './src/bundle.ts'\n" : ''
  await build({
    ...common,
    minify: true,
    charset: 'ascii',
    stdin: { contents: `${entry}export const modules = {\n${exposed.join('')}}`, resolveDir: '.' },
    outfile: `dist/${part}.js`,
    plugins: [separateParts(part, all), separateLibraries(modules, libraries), withoutDefaultContext],
    // Their ESM builds, which can be shaken: by default the bundler would take CommonJS.
    alias: { clipanion: `./${CLIPANION}/advanced/index.mjs` },
    define: {
      ...common.define,
      __KEELSON_BUILD__: JSON.stringify(BUILD),
      __KEELSON_PROGRAMS__: JSON.stringify(
        Object.fromEntries(programs.map(file => [file, readFileSync(file, 'utf8')])),
      ),
      __KEELSON_EGRESS_HELPER__: JSON.stringify(helper),
    },
  })
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
      plugins: [loadRareLater],
    })
  }
}

const PAGE = 'plugins/serve/ui/page'

async function buildPage(): Promise<void> {
  await cp(PAGE, 'dist/page', {
    recursive: true,
    filter: path => !['.js', '.ts', '.tsx'].includes(extname(path)),
  })
  execFileSync('node_modules/.bin/esbuild', [
    ...pageArguments(`${PAGE}/main.ts`),
    '--outfile=dist/page/main.js',
  ])
}

/** Of the library's aids for its own developers nothing is built. */
const withoutDevtools: Plugin = {
  name: 'without-devtools',
  setup(build) {
    build.onLoad({ filter: /ink\/build\/devtools\.js$/ }, () => ({ contents: '' }))
  },
}

async function buildTerminalView(): Promise<void> {
  await build({
    ...common,
    format: 'esm',
    entryPoints: ['plugins/tui/view/start.ts'],
    outfile: 'dist/tui-view.mjs',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    plugins: [withoutDevtools],
  })
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
  entry: { main: 'src/main.ts' },
  format: 'cjs',
  target: 'node22',
  platform: 'node',
  outExtension: () => ({ js: '.js' }),
  splitting: false,
  clean: true,
  dts: false,
  noExternal: [/.*/],
  esbuildPlugins: [requireProgram],
  esbuildOptions(options) {
    options.minify = true
    options.charset = 'ascii'
    options.define = { ...options.define, ...common.define }
    options.banner = { js: HERE }
  },
  /** The module of Cedar is read by plugins/authz/cedar/load-cedar.ts. */
  async onSuccess() {
    await writeFile('dist/package.json', '{"type":"commonjs"}\n')
    // The types are those of plugin-api.mjs.
    await mkdir('dist/types', { recursive: true })
    await writeFile('dist/types/package.json', '{"type":"module"}\n')
    const all = await findModules()
    for (const part of all.parts) await buildPart(part, all)
    await buildLibraries()
    await writePluginApi()
    await buildPage()
    await buildTerminalView()
    const cedar = await readFile(`node_modules/@cedar-policy/cedar-wasm/web/${CEDAR}`)
    await writeFile(`dist/${CEDAR}.br`, brotliCompressSync(cedar, QUICK))
  },
})
