import { isFailure } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { registrySchemas } from '../formats/registry-schemas.ts'
import type { SkillEntry } from '../formats/skill-entry.ts'
import { readPage } from './api-pages.ts'
import { PAGE_SIZE } from './fetch-all-pages.ts'
import { type Access, fetchPage, isPassing } from './fetch-page.ts'

const MOST_SKILLS = 10_000

/** The skills of a registry. An extension of ToolHive's: a registry without it has none. */
export async function fetchSkills(
  root: string,
  access: Access,
  { log, signal }: { log: Log; signal: AbortSignal | undefined },
): Promise<readonly SkillEntry[]> {
  const schema = registrySchemas('shape').skill
  const skills: SkillEntry[] = []
  let cursor: string | undefined
  do {
    const words = new URLSearchParams({ limit: String(PAGE_SIZE), ...(cursor ? { cursor } : {}) })
    const url = `${root}/v0.1/x/dev.toolhive/skills?${words}`
    const page = await fetchPage(url, access, { timeoutMs: access.timeouts.answerMs, signal }).catch(
      error => {
        // What is no failure is a bug, or the caller has gone.
        if (!isFailure(error) || error.code === 'registry_auth_required') throw error
        if (isPassing(error)) log.warn(`${error.message} Its skills are left out.`)
        return undefined
      },
    )
    if (!page) return skills
    const { list, next } = readPage(page, 'skills')
    skills.push(...list.filter((skill): skill is SkillEntry => schema(skill)))
    if (next === cursor || skills.length > MOST_SKILLS) return skills
    cursor = next
  } while (cursor)
  return skills
}
