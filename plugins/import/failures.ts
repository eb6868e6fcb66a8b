import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  import_source_missing: {
    status: 404,
    text: (d: { path: string }) => `The file to import ${d.path} does not exist.`,
    hint: 'What is imported is `toolhive`, `docker-mcp`, or the path of the file of a client, such as ~/.cursor/mcp.json.',
  },
  import_nothing: {
    status: 404,
    text: (d: { what: string; place: string }) => `There are no servers of ${d.what} in ${d.place}.`,
    hint: 'Name another file, or set HOME or XDG_STATE_HOME to the place where the other tool keeps its files.',
  },
  import_unreadable: {
    status: 400,
    text: (d: { path: string; problem: string }) => `${d.path} cannot be imported: ${d.problem}`,
    hint: 'A file of a client is JSON with `mcpServers` or `servers`. A catalogue of docker mcp is YAML with `registry`.',
  },
  import_unfinished: {
    status: 500,
    text: (d: { failed: readonly string[] }) => `Not imported: ${d.failed.join(', ')}.`,
    hint: 'The reasons stand above. What was imported stays; the same command imports the rest.',
  },
})
