import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Desk, deskAt } from './desk-at.ts'

export { type Desk, deskAt, treeOf, USER } from './desk-at.ts'

/** A desk in a home folder that goes away with the test, with Cursor and Claude Code installed. */
export async function desk(): Promise<Desk> {
  const home = await temporaryFolder()
  await mkdir(join(home, 'project/.git'), { recursive: true })
  const made = deskAt(home)
  await made.hasClient('.cursor', '.claude.json')
  return made
}
