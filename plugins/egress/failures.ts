import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  profile_invalid: {
    status: 400,
    text: (d: { problems: readonly string[] }) =>
      `The permission profile is not valid: ${d.problems.join('; ')}.`,
    hint: 'Correct the profile; docs/isolation.md shows each member.',
  },
  isolation_conflict: {
    status: 400,
    exit: 2,
    text: (d: { mode: string }) => `--isolate-network cannot be combined with the network mode "${d.mode}".`,
    hint: 'Leave out --network, or say --isolate-network=false.',
  },
  explain_url_unreadable: {
    status: 400,
    exit: 2,
    text: (d: { problem: string }) => `That is not a destination: ${d.problem}.`,
    hint: 'Write a URL such as https://api.example.com/, or HOST:PORT.',
  },
  egress_listener_unusable: {
    status: 500,
    text: (d: { workload: string; where: string; problem: string }) =>
      `The egress proxy of "${d.workload}" cannot listen on ${d.where}: ${d.problem}.`,
  },
})
