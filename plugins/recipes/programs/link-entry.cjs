// Makes /app/mcp-server a link to the package's program.
const fs = require('node:fs')
const path = require('node:path')
const name = process.argv[2]
const home = path.join('/app/node_modules', name)
const { bin } = JSON.parse(fs.readFileSync(path.join(home, 'package.json'), 'utf8'))
const bins = typeof bin === 'string' ? { [name]: bin } : (bin ?? {})
const files = [...new Set(Object.values(bins))]
const file = bins[name.replace(/^@[^/]+\//, '')] ?? (files.length === 1 ? files[0] : undefined)
if (!file) {
  const names = Object.keys(bins).join(', ')
  console.error(
    names
      ? `${name} has several programs (${names}) and none bears its name.`
      : `${name} has no program to run.`,
  )
  process.exit(1)
}
const target = path.join(home, file)
fs.chmodSync(target, 0o755)
fs.symlinkSync(path.relative('/app', target), '/app/mcp-server')
