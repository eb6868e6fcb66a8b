import { SCRIPTS_LINE, VERSION_LINE } from './recipe.ts'

/**
 * Runs where npm has decided what to install, and has fetched none of it. What comes from a repository,
 * a folder or an address of somebody's choice is refused, since no registry has seen it.
 */
export const CHECK_LOCK = `const fs = require('node:fs')
const { packages } = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'))
const entries = Object.entries(packages).filter(([place]) => place)
const wanted = entries.flatMap(([, entry]) =>
  Object.values({ ...entry.peerDependencies, ...entry.optionalDependencies, ...entry.dependencies }))
const addresses = new Set(wanted.filter(text => /^https?:/.test(text)))
for (const [place, { link, resolved = '' }] of entries) {
  if (!link && /^(https?:|$)/.test(resolved) && !addresses.has(resolved)) continue
  console.error(place.split('node_modules/').pop() + ' comes from ' + resolved + ', which is no package registry: refused.')
  process.exit(1)
}
console.log('${VERSION_LINE}' + packages['node_modules/' + process.argv[2]].version)
`

/**
 * Runs the command given where a package has scripts for its installation, and says which have. The
 * command is \`npm ci\` rather than \`npm rebuild\`, which does not go on without an optional package.
 */
export const RUN_SCRIPTS = `const fs = require('node:fs')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { packages } = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'))
const scripted = Object.keys(packages).filter(place => place && hasScripts(place))
if (scripted.length === 0) process.exit()
const names = scripted.map(place => place.split('node_modules/').pop() + '@' + packages[place].version)
console.log('${SCRIPTS_LINE}' + [...new Set(names)].join(' '))
const env = { ...process.env }
const headers = path.resolve(process.execPath, '../..')
// node-gyp would fetch them.
if (fs.existsSync(path.join(headers, 'include/node/node.h'))) env.npm_config_nodedir = headers
const [program, ...args] = process.argv.slice(2)
process.exit(spawnSync(program, args, { stdio: 'inherit', env }).status ?? 1)

function hasScripts(place) {
  try {
    const { scripts = {} } = JSON.parse(fs.readFileSync(path.join(place, 'package.json'), 'utf8'))
    if (scripts.preinstall || scripts.install || scripts.postinstall) return true
  } catch {
    return false // an optional package for another system
  }
  return fs.existsSync(path.join(place, 'binding.gyp'))
}
`

/** Makes /app/mcp-server a link to the package's program. */
export const LINK_ENTRY = `const fs = require('node:fs')
const path = require('node:path')
const name = process.argv[2]
const home = path.join('/app/node_modules', name)
const { bin } = JSON.parse(fs.readFileSync(path.join(home, 'package.json'), 'utf8'))
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
`
