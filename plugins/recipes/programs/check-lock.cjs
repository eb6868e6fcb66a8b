/*
 * Runs after npm has decided what to install and before it fetches anything. Refuses what comes from a
 * repository, a folder or an address outside a package registry, since no registry has seen it.
 */
const fs = require('node:fs')
const { packages } = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'))
const entries = Object.entries(packages).filter(([place]) => place)
const wanted = entries.flatMap(([, entry]) =>
  Object.values({ ...entry.peerDependencies, ...entry.optionalDependencies, ...entry.dependencies }),
)
const addresses = new Set(wanted.filter(text => /^https?:/.test(text)))
for (const [place, { link, resolved = '' }] of entries) {
  if (!link && /^(https?:|$)/.test(resolved) && !addresses.has(resolved)) continue
  console.error(
    place.split('node_modules/').pop() +
      ' comes from ' +
      resolved +
      ', which is not a package registry: refused.',
  )
  process.exit(1)
}
console.log(`__VERSION_LINE__${packages[`node_modules/${process.argv[2]}`].version}`)
