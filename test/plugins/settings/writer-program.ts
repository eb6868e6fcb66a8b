/** Writes `count` members of `build_env`, each named after this writer; says `ready` first. */
import { createSettings } from '../../../plugins/settings/service.ts'
import { findPaths } from '../../../src/paths.ts'

const [home = '', writer = '', count = '0'] = process.argv.slice(2)
const settings = createSettings({ paths: findPaths({ HOME: home }) })
process.stdout.write('ready\n')
for (let i = 0; i < Number(count); i++) {
  await settings.change(current => ({
    build_env: { ...current('build_env'), [`${writer}_${i}`]: 'x'.repeat(2000) },
  }))
}
