import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  group_name_invalid: {
    status: 400,
    exit: 2,
    text: (d: { name: string }) => `"${d.name}" is not a name for a group.`,
    hint: 'Use 1 to 100 lower-case letters, digits, "_", "-" and single spaces between them.',
  },
  group_unknown: {
    status: 404,
    text: (d: { group: string; near?: string | undefined }) => `There is no group "${d.group}".`,
    hint: d =>
      `${d.near === undefined ? '' : `Did you mean "${d.near}"? `}\`keelson group list\` shows the groups there are; \`keelson group create NAME\` makes one.`,
  },
  group_exists: {
    status: 409,
    text: (d: { name: string }) => `There is a group "${d.name}" already.`,
  },
  group_default_stays: {
    status: 400,
    text: () => 'The group "default" cannot be removed.',
    hint: 'Workloads that name no group belong to it.',
  },
  group_not_emptied: {
    status: 500,
    text: (d: { name: string; problems: readonly string[] }) =>
      `The group "${d.name}" is still there, because not all of its workloads could be removed: ${d.problems.join('; ')}`,
    hint: d =>
      `Type \`keelson group rm ${JSON.stringify(d.name)} --with-workloads\` again when that is solved.`,
  },
})
