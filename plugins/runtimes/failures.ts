import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  runtime_unknown: {
    status: 400,
    exit: 2,
    text: (d: { name: string; from: string; names: readonly string[] }) =>
      `There is no runtime "${d.name}" (${d.from}).`,
    hint: d => (d.names.length ? `There are: ${d.names.join(', ')}.` : 'No plugin here provides any.'),
  },
  no_runtime: {
    status: 503,
    text: (d: { problems: readonly string[]; hints: readonly string[] }) =>
      ['No runtime can be used here.', ...d.problems].join('\n  '),
    hint: d =>
      ['Start Docker or Podman; `keelson runtime check` says what is wrong with each.', ...d.hints].join(' '),
  },
  sandbox_wanted: {
    status: 400,
    exit: 2,
    text: (d: { runtime: string }) =>
      `--no-sandbox (no_sandbox) does not go with the runtime "${d.runtime}": its containers are the sandbox.`,
    hint: 'Omit it; it is for packages on the process runtime.',
  },
})
