import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  client_unknown: {
    status: 400,
    text: (d: { name: string; near?: string | undefined; ids: readonly string[] }) =>
      `"${d.name}" is not a client that keelson knows.${d.near ? ` Did you mean ${d.near}?` : ''}`,
    hint: d => `Clients: ${d.ids.join(', ')}.`,
  },
  client_file_invalid: {
    status: 409,
    text: (d: { client: string; path: string; line?: number | undefined; problem: string }) =>
      `The file of ${d.client}, ${d.path}${d.line === undefined ? '' : `, line ${d.line}`}, cannot be edited: ${d.problem}. It was left alone.`,
    hint: 'Repair it in an editor; then check it with `keelson client status`.',
  },
  client_file_failed: {
    status: 500,
    text: (d: { client: string; path: string; problem: string }) =>
      `The file of ${d.client}, ${d.path}, cannot be read or written: ${d.problem}`,
  },
  client_file_changing: {
    status: 503,
    text: (d: { client: string; path: string }) =>
      `The file of ${d.client}, ${d.path}, changed each time keelson was about to replace it.`,
    hint: 'Try again in a moment.',
  },
  client_entry_foreign: {
    status: 409,
    text: (d: { client: string; path: string; server: string }) =>
      `${d.path} of ${d.client} has a server "${d.server}" that keelson did not write; it was left alone.`,
    hint: 'Rename or delete that entry, or give the workload another name.',
  },
})
