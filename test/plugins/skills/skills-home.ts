import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type SkillsHome, skillsHomeAt } from './skills-home-at.ts'

export { type SkillsHome, skillsHomeAt, treeOf, USER } from './skills-home-at.ts'

/** A home folder with everything that installs skills, that goes away with the test, with Cursor and Claude Code installed. */
export async function skillsHome(): Promise<SkillsHome> {
  const home = await temporaryFolder()
  await mkdir(join(home, 'project/.git'), { recursive: true })
  const made = skillsHomeAt(home)
  await made.hasClient('.cursor', '.claude.json')
  return made
}
