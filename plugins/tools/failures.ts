import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  tools_invalid: {
    status: 400,
    exit: 2,
    text: (d: { problem: string }) => `The selection of tools is wrong: ${d.problem}.`,
    hint: 'Correct --tools, --tools-deny or --tools-override.',
  },
  tools_file_invalid: {
    status: 400,
    exit: 2,
    text: (d: { path: string; problem: string }) =>
      `${d.path} is not a valid file for --tools-override: ${d.problem}.`,
    hint: 'Write {"toolsOverride": {"TOOL": {"name": "NEW_NAME", "description": "TEXT"}}}.',
  },
  tools_unknown: {
    status: 400,
    exit: 2,
    text: (d: { workload: string; errors: readonly string[] }) =>
      `The names of tools do not fit the server of "${d.workload}". ${d.errors.join(' ')}`,
    hint: '`keelson tools NAME` shows all tools of a running workload.',
  },
  tools_upgrading: {
    status: 409,
    text: (d: { workload: string }) => `An upgrade of "${d.workload}" is under way.`,
    hint: 'Select its tools when the upgrade has ended.',
  },
  tools_message_unreadable: {
    status: 400,
    text: () => 'The body is not one JSON-RPC message in UTF-8, so nobody can tell which tool it calls.',
  },
})
