import type { Groups } from '../../groups/index.ts'
import type { GroupStep } from './change-journal.ts'

/** The functions of groups that skills call. */
export type SkillGroups = Pick<Groups, 'list' | 'get' | 'change'>

/** Adds a skill to a group, or removes it. */
export async function setMember(groups: SkillGroups, { group, skill, member }: GroupStep): Promise<void> {
  const now = await groups.get(group)
  if ((now.skills ?? []).includes(skill) === member) return // an undo writes nothing when nothing is to do
  await groups.change(group, before => {
    const { skills = [], ...rest } = before
    if (skills.includes(skill) === member) return before
    const after = member ? [...skills, skill].sort() : skills.filter(other => other !== skill)
    return { ...rest, ...(after.length ? { skills: after } : {}) }
  })
}

/** Returns the step that adds a skill to a group; none when it is a member. */
export async function joinSteps(groups: SkillGroups, group: string, skill: string): Promise<GroupStep[]> {
  const { skills = [] } = await groups.get(group)
  return skills.includes(skill) ? [] : [{ group, skill, member: true }]
}

/** Returns the steps that remove a skill from all groups. */
export async function leaveSteps(groups: SkillGroups, skill: string): Promise<GroupStep[]> {
  const all = await groups.list()
  return all
    .filter(({ skills = [] }) => skills.includes(skill))
    .map(({ name }) => ({ group: name, skill, member: false }))
}
