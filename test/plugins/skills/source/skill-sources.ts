import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SkillEntry } from '../../../../plugins/registry/index.ts'
import type { LocalBuild, LocalBuilds } from '../../../../plugins/skills/source/get-skill.ts'
import { createSkillSources, type SkillSourcesDeps } from '../../../../plugins/skills/source/sources.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { ociClient } from '../../oci/oci-client.ts'

export const SKILL = skillFile('a-skill')

export function skillFile(name: string, body = 'Do it.\n'): string {
  return `---\nname: ${name}\ndescription: How to do ${name}\n---\n${body}`
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
    registry: { skills: async () => entries },
    verification: { signer: async () => undefined },
    builds: localBuilds({}),
    env: { PATH: process.env.PATH, KEELSON_PRIVATE_GIT_HOSTS: hosts.join(','), ...env },
    scratch,
    ...given,
  })
  return {
    ...sources,
    staging,
    get: (
      reference: string,
      options: { version?: string; signal?: AbortSignal; progress?: (what: string) => void } = {},
    ) => sources.fetch(reference, { staging, ...options }),
    /** Whatever is left behind in the folders that the sources work in. */
    left: async () => [...(await readdir(staging)), ...(await readdir(scratch))],
  }
}

/** Local builds by tag, without a store. */
export function localBuilds(
  builds: Readonly<Record<string, { name?: string; version?: string; files: Record<string, string> }>>,
): LocalBuilds {
  const digest = `sha256:${'0'.repeat(64)}`
  const all = Object.entries(builds).map(([tag, build]): LocalBuild & { version?: string } => ({
    tag,
    digest,
    ...build,
  }))
  return {
    list: async () => all,
    find: async (text, version) =>
      all.find(({ tag, name, ...build }) => {
        return (tag === text || name === text) && (version === undefined || build.version === version)
      }),
    async extractTo(tag, folder) {
      const { writeFile } = await import('node:fs/promises')
      for (const [path, content] of Object.entries(builds[tag]?.files ?? {}))
        await writeFile(join(folder, path), content)
    },
  }
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
