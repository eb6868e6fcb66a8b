import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SkillEntry } from '../../../plugins/registry/index.ts'
import { type Builds, createBuilds } from '../../../plugins/skill-artifacts/service.ts'
import { createSkillSources, type SkillSourcesDeps } from '../../../plugins/skill-sources/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { ociClient } from '../oci/oci-client.ts'

export const SKILL = skillFile('a-skill')

export function skillFile(name: string, body = 'Do it.\n', version?: string): string {
  const more = version === undefined ? '' : `version: ${version}\n`
  return `---\nname: ${name}\ndescription: How to do ${name}\n${more}---\n${body}`
}

/** What may be asked of sources in a test: everything real except what the test gives. */
export interface Given extends Partial<SkillSourcesDeps> {
  entries?: readonly SkillEntry[]
  /** Git hosts on loopback that may be used. */
  hosts?: readonly string[]
}

/** Sources as the plugin makes them, and the folder they stage in. */
export async function skillSources({ entries = [], hosts = [], env, ...given }: Given = {}) {
  const staging = await temporaryFolder()
  const scratch = await temporaryFolder()
  const sources = createSkillSources({
    oci: ociClient(),
    registry: { skills: async () => entries, isPublic: async () => false },
    verification: {
      signer: async () => undefined,
      detachedSigner: () => Promise.reject(new Error('no commit of this test is signed')),
    },
    builds: await localBuilds(),
    env: { PATH: process.env.PATH, KEELSON_PRIVATE_GIT_HOSTS: hosts.join(','), ...env },
    scratch,
    ...given,
  })
  return {
    ...sources,
    staging,
    get: (
      reference: string,
      options: {
        typed?: boolean
        version?: string
        signal?: AbortSignal
        progress?: (what: string) => void
      } = {},
    ) => sources.fetch(reference, { staging, typed: true, ...options }),
    /** Whatever is left behind in the folders that the sources work in. */
    left: async () => [...(await readdir(staging)), ...(await readdir(scratch))],
  }
}

/** Local builds in a store of the test's own: of the skill in each SKILL.md, under its name or a tag. */
export async function localBuilds(...skills: readonly { file: string; tag?: string }[]): Promise<Builds> {
  const builds = createBuilds({ folder: await temporaryFolder(), oci: async () => ociClient(), env: {} })
  for (const { file, tag } of skills) {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'SKILL.md'), file)
    await builds.build(folder, tag)
  }
  return builds
}

/** Path and content of all files of a folder. */
export async function filesOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files: Record<string, string> = {}
  for (const entry of entries.filter(one => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    files[path.slice(folder.length + 1)] = await readFile(path, 'latin1')
  }
  return files
}
