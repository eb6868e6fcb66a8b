import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  kubernetes_name_empty: {
    status: 422,
    text: (d: { name: string }) =>
      `The name "${d.name}" has no letter or digit that an object's name may have.`,
    hint: 'Rename the workload, e.g. `keelson rename NAME NEW`.',
  },
  kubernetes_lossy: {
    status: 422,
    text: (d: { name: string; kind: string; members: readonly string[] }) =>
      `The ${d.kind} of "${d.name}" cannot hold these members: ${d.members.join(', ')}.`,
    hint: 'Omit --strict to export the rest of them.',
  },
  kubernetes_member_local: {
    status: 422,
    text: (d: { name: string; members: readonly string[] }) =>
      `"${d.name}" cannot run in a pod as it does here, because of these members: ${d.members.join(', ')}.`,
    hint: 'They name files, secrets or features that the pod would not have. Export a workload without them.',
  },
  kubernetes_kind_unsupported: {
    status: 422,
    text: (d: { name: string; problem: string }) =>
      `"${d.name}" cannot be exported for Kubernetes: ${d.problem}.`,
  },
})
