import { defineFailures } from '../../src/errors.ts'

/** What can go wrong with what is on disk about a workload. */
export const failures = defineFailures({
  invalid_name: {
    status: 400,
    exit: 2,
    text: (d: { name: string }) => `"${d.name}" is not a name for a workload.`,
    hint: 'Use 1 to 100 letters, digits, dots, dashes and underscores.',
  },
  workload_missing: {
    status: 404,
    text: (d: { name: string; near?: string | undefined }) => `There is no workload "${d.name}".`,
    hint: d =>
      d.near === undefined
        ? '`keelson list --all` shows the workloads there are.'
        : `Did you mean "${d.near}"? \`keelson list --all\` shows the workloads there are.`,
  },
  workload_exists: {
    status: 409,
    text: (d: { name: string }) => `A workload "${d.name}" already exists.`,
    hint: d => `Choose another name, or remove it with \`keelson rm ${d.name}\`.`,
  },
  workload_changed: {
    status: 409,
    text: (d: { name: string }) => `The workload "${d.name}" was changed or removed meanwhile.`,
    hint: 'Try again.',
  },
  workload_unreadable: {
    status: 500,
    text: (d: { name: string; problem: string; aside?: string }) =>
      `What is stored about "${d.name}" cannot be read: ${d.problem}${d.aside ? ` It was set aside as ${d.aside}.` : ''}`,
    hint: d =>
      d.aside
        ? 'Repair that file and rename it back, or run the workload again.'
        : `Repair that file, or remove the workload with \`keelson rm ${d.name}\`.`,
  },
})
