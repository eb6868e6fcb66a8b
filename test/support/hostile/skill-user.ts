import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { type KeelsonUser, keelsonUser } from '../keelson.ts'

/** A user with Cursor installed, who has a project. */
export interface SkillUser extends KeelsonUser {
  readonly project: string
  /** Runs `keelson skill` in the project. */
  skill(...words: string[]): ReturnType<KeelsonUser['run']>
}

export async function skillUser(env: Record<string, string> = {}): Promise<SkillUser> {
  const made = await keelsonUser()
  Object.assign(made.env, env)
  const project = join(await realpath(made.home), 'project')
  await mkdir(join(project, '.git'), { recursive: true })
  await mkdir(join(made.home, '.cursor'))
  return { ...made, project, skill: (...words) => made.run(['skill', ...words], { cwd: project }) }
}
