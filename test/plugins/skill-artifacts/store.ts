import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Builds, createBuilds } from '../../../plugins/skill-artifacts/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

export const fixture = (name: string): string =>
  new URL(`../../../fixtures/skills/${name}`, import.meta.url).pathname

/** A store of the test's own, or another view of one that is there. */
export async function store(
  env: Record<string, string> = {},
  folder?: string,
): Promise<Builds & { folder: string }> {
  const at = folder ?? join(await temporaryFolder(), 'builds')
  const oci = () => Promise.reject(new Error('nothing is pushed here'))
  return { ...createBuilds({ folder: at, oci, env }), folder: at }
}

export const blobsOf = (folder: string): string[] => readdirSync(join(folder, 'blobs/sha256')).sort()
export const bytesOf = (folder: string, digest: string): Buffer =>
  readFileSync(join(folder, 'blobs/sha256', digest.replace('sha256:', '')))
// biome-ignore lint/suspicious/noExplicitAny: tests look into documents
export const jsonOf = (folder: string, digest: string): any => JSON.parse(bytesOf(folder, digest).toString())

/** A skill of its own in a temporary folder. */
export async function skill(files: Record<string, string> = {}, name = 'demo'): Promise<string> {
  const folder = join(await temporaryFolder(), name)
  const all = { 'SKILL.md': `---\nname: ${name}\ndescription: d\n---\nbody\n`, ...files }
  for (const [path, text] of Object.entries(all)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}
