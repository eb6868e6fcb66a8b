/*
 * Runs the given command if a package has scripts for its installation, and prints which packages have. The
 * command is `npm ci` rather than `npm rebuild`, which fails without an optional package.
 */
const fs = require('node:fs')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { packages } = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'))
const scripted = Object.keys(packages).filter(place => place && hasScripts(place))
if (scripted.length === 0) process.exit()
const names = scripted.map(place => `${place.split('node_modules/').pop()}@${packages[place].version}`)
console.log(`__SCRIPTS_LINE__${[...new Set(names)].join(' ')}`)
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
