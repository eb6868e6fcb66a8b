import { variableFiles, withVariables } from './build-variables.ts'
import type { CheckedOptions, Pinned, Recipe } from './recipe.ts'
import { VERSION_LINE } from './recipe.ts'
import { beginStage, caFiles, endStage, run, toDockerfile } from './stages.ts'

const IMAGE = 'node:24-alpine'
const WANTS = ['git', 'ca-certificates']

/** Runs in the builder: makes /app/mcp-server a link to the package's program. */
const LINK_ENTRY = `const fs = require('node:fs')
const path = require('node:path')
const name = process.argv[2]
const home = path.join('/app/node_modules', name)
const { bin, version } = JSON.parse(fs.readFileSync(path.join(home, 'package.json'), 'utf8'))
const bins = typeof bin === 'string' ? { [name]: bin } : bin ?? {}
const files = [...new Set(Object.values(bins))]
const file = bins[name.replace(/^@[^/]+\\//, '')] ?? (files.length === 1 ? files[0] : undefined)
if (!file) {
  const names = Object.keys(bins).join(', ')
  console.error(names ? name + ' has several programs (' + names + ') and none bears its name.' : name + ' has no program to run.')
  process.exit(1)
}
const target = path.join(home, file)
fs.chmodSync(target, 0o755)
fs.symlinkSync(path.relative('/app', target), '/app/mcp-server')
console.log('${VERSION_LINE}' + version)
`

/** An npm package, installed with its scripts inside the build, started directly: no network at the start. */
export function npxRecipe({ reference, version }: Pinned, options: CheckedOptions): Recipe {
  const { name, wanted } = reference
  const image = options.image ?? IMAGE
  const manifest = {
    name: 'workload',
    private: true,
    dependencies: { [name]: version ?? wanted ?? 'latest' },
  }
  const install = ['npm', 'install', '--omit=dev', '--no-audit', '--no-fund', '--no-update-notifier']
  return {
    dockerfile: toDockerfile([
      ...withVariables(
        [
          ...beginStage(image, options, { as: 'builder', wants: WANTS }),
          'WORKDIR /app',
          'COPY package.json ./',
          run(...install),
          'COPY link-entry.cjs /keelson/',
          run('node', '/keelson/link-entry.cjs', name),
        ],
        options.variables,
      ),
      '',
      ...beginStage(image, options, { wants: WANTS }),
      ...endStage(options.args, ['NODE_ENV=production']),
    ]),
    files: new Map([
      ['package.json', `${JSON.stringify(manifest, null, 2)}\n`],
      ['link-entry.cjs', LINK_ENTRY],
      ...caFiles(options.ca),
      ...variableFiles(options.variables),
    ]),
  }
}
