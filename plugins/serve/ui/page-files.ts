import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { pageArguments } from './bundle-page.ts'

/** The files of the page. A build has this folder beside its chunks (see tsup.config.ts). */
const FOLDER = new URL('./page/', import.meta.url)

/** The bundle. Only a build has it as a file. */
const PROGRAM = 'main.js'
const AS_IT_IS = /^main\.js$|\.(?:html|css|svg)$/

/** The files of the page by name. Where nothing is built, as in tests, the program is bundled now. */
export async function readPageFiles(): Promise<Map<string, Uint8Array>> {
  const names = (await readdir(FOLDER)).filter(name => AS_IT_IS.test(name))
  const read = async (name: string) => [name, await readFile(new URL(name, FOLDER))] as const
  const files = new Map<string, Uint8Array>(await Promise.all(names.map(read)))
  if (!files.has(PROGRAM)) files.set(PROGRAM, await bundle())
  return files
}

async function bundle(): Promise<Uint8Array> {
  const { execa } = await import('execa')
  const entry = fileURLToPath(new URL('main.ts', FOLDER))
  const { stdout } = await execa('esbuild', pageArguments(entry), {
    preferLocal: true,
    localDir: new URL('.', import.meta.url),
    encoding: 'buffer',
  })
  return stdout
}
