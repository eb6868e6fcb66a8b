import { cp, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'

const root = new URL('../..', import.meta.url).pathname

/** The list of plugins, without those that the environment names. */
const LIST = `
import { builtins as all } from './all.ts'
const absent = (process.env.TEST_WITHOUT_PLUGINS ?? '').split(',')
export const builtins = all.filter(({ name }) => !absent.includes(name))
`

/** Builds a copy of the program, as `npm run build` does, that lacks the plugins named in `TEST_WITHOUT_PLUGINS`. */
export async function buildWithoutPlugins(): Promise<{ main: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-without-'))
  for (const part of ['src', 'plugins', 'scripts', 'package.json', 'tsconfig.json', 'tsup.config.ts']) {
    await cp(join(root, part), join(folder, part), { recursive: true })
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await rename(join(folder, 'plugins/index.ts'), join(folder, 'plugins/all.ts'))
  await writeFile(join(folder, 'plugins/index.ts'), LIST)
  await execa(join(root, 'node_modules/.bin/tsup'), ['--silent'], { cwd: folder })
  return {
    main: join(folder, 'dist/main.js'),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
