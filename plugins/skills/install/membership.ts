import type { Groups } from '../../groups/index.ts'
import type { GroupStep } from './change-journal.ts'

/** What skills need of groups. */
export type SkillGroups = Pick<Groups, 'list' | 'get' | 'change'>

/** Makes a skill a member of a group, or no longer. */
export async function setMember(groups: SkillGroups, { group, skill, member }: GroupStep): Promise<void> {
  const now = await groups.get(group)
  if ((now.skills ?? []).includes(skill) === member) return // an undo must not need to write what is right
  await groups.change(group, before => {
    const { skills = [], ...rest } = before
    if (skills.includes(skill) === member) return before
    const after = member ? [...skills, skill].sort() : skills.filter(other => other !== skill)
    return { ...rest, ...(after.length ? { skills: after } : {}) }
  })
}

/** The step that makes a skill a member, unless it is one. */
export async function joinSteps(groups: SkillGroups, group: string, skill: string): Promise<GroupStep[]> {
  const { skills = [] } = await groups.get(group)
  return skills.includes(skill) ? [] : [{ group, skill, member: true }]
}

/** The steps that take a skill out of every group. */
export async function leaveSteps(groups: SkillGroups, skill: string): Promise<GroupStep[]> {
  const all = await groups.list()
  return all
    .filter(({ skills = [] }) => skills.includes(skill))
    .map(({ name }) => ({ group: name, skill, member: false }))
}
