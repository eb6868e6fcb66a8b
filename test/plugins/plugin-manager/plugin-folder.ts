import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Writes the package of a plugin: by default one with the verb `hello`, which prints "hello". */
export async function writePlugin(
  folder: string,
  {
    name = 'hello-plugin',
    version = '1.0.0',
    keelson = {},
    package: more = {},
    code = helloCode('hello'),
    files = {},
  }: {
    name?: string
    version?: string
    /** Members of the manifest. */
    keelson?: Record<string, unknown> | null
    /** Other members of package.json. */
    package?: Record<string, unknown>
    code?: string
    files?: Record<string, string>
  } = {},
): Promise<string> {
  const manifest = { apiVersion: 1, entry: './index.js', verbs: { hello: 'say hello' }, ...keelson }
  const document = { name, version, type: 'module', ...(keelson && { keelson: manifest }), ...more }
  const all = { 'package.json': JSON.stringify(document), 'index.js': code, ...files }
  for (const [path, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

/** Code of a plugin with the verb `hello`. */
export const helloCode = (says: string): string => `
import { BaseCommand, definePlugin } from 'keelson/plugin'
class Hello extends BaseCommand {
  static paths = [['hello']]
  static usage = BaseCommand.Usage({ category: 'Hello', description: 'say hello' })
  async execute() { this.print(${JSON.stringify(says)}) }
}
export default definePlugin({ name: 'hello-plugin', commands: [Hello] })
`
