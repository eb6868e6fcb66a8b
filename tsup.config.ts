import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { cp, writeFile } from 'node:fs/promises'
import { defineConfig } from 'tsup'
import { bundleArguments } from './plugins/egress/helper/bundle-helper.ts'

const programs = globSync('plugins/**/programs/*.{cjs,py,sh}').sort()
const sources = [...globSync(['src/**/*.ts', 'plugins/**/*.ts']).sort(), ...programs]
const plugins = globSync('plugins/*/index.ts')

/** Identifies a build by its sources, so that a supervisor of another build is handed over. */
const build = createHash('sha256')
for (const file of sources) build.update(file).update(readFileSync(file))

/** The egress proxy as one file, to be run in the helper of an engine that is elsewhere. */
const helper = execFileSync(
  'node_modules/.bin/esbuild',
  bundleArguments('plugins/egress/helper/helper-main.ts'),
  {
    encoding: 'utf8',
  },
)

const CEDAR = 'cedar_wasm_bg.wasm'

export default defineConfig({
  entry: {
    main: 'src/main.ts',
    'plugin-api': 'src/plugin-api.ts',
    ...Object.fromEntries(plugins.map(file => [file.replace(/\.ts$/, ''), file])),
  },
  format: 'esm',
  target: 'node22',
  platform: 'node',
  splitting: true,
  clean: true,
  dts: false,
  noExternal: [/.*/],
  esbuildOptions(options) {
    // Their ESM builds, which can be shaken: by default the bundler would take CommonJS.
    options.alias = {
      clipanion: './node_modules/clipanion/lib/advanced/index.mjs',
      typanion: './node_modules/typanion/lib/index.mjs',
    }
  },
  /** The page of `serve --ui` is sent as it is; the module of Cedar is read by plugins/authz/cedar/load-cedar.ts. */
  async onSuccess() {
    await cp('plugins/serve/ui/page', 'dist/page', { recursive: true })
    // Node looks for this file beside each of some hundred modules, before it looks above.
    await writeFile('dist/package.json', '{"type":"module"}\n')
    await cp(`node_modules/@cedar-policy/cedar-wasm/web/${CEDAR}`, `dist/${CEDAR}`)
  },
  define: {
    __KEELSON_BUILD__: JSON.stringify(build.digest('hex').slice(0, 12)),
    __KEELSON_PROGRAMS__: JSON.stringify(
      Object.fromEntries(programs.map(file => [file, readFileSync(file, 'utf8')])),
    ),
    __KEELSON_EGRESS_HELPER__: JSON.stringify(helper),
  },
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
})
