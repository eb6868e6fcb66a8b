import { defineFailures } from '../errors.ts'

/** Failures that any runtime may give; a runtime's own stand in its plugin. */
export const runtimeFailures = defineFailures({
  runtime_unavailable: {
    status: 503,
    text: (d: { runtime: string; problem: string; hint?: string | undefined }) =>
      `The runtime "${d.runtime}" cannot be used: ${d.problem}`,
    hint: d => d.hint,
  },
  runtime_failed: {
    status: 502,
    text: (d: { runtime: string; doing: string; problem: string; hint?: string | undefined }) =>
      `${d.runtime} could not ${d.doing}: ${d.problem}`,
    hint: d => d.hint,
  },
  instance_missing: {
    status: 404,
    text: (d: { runtime: string; name: string }) => `${d.runtime} has no instance "${d.name}" of keelson's.`,
  },
  name_taken: {
    status: 409,
    text: (d: { runtime: string; name: string }) =>
      `${d.runtime} already has a container "${d.name}" that this keelson did not make; it is left alone.`,
    hint: 'Choose another name with --name, or remove that container yourself.',
  },
  instance_port_busy: {
    status: 409,
    text: (d: { runtime: string; name: string; address: string }) =>
      `${d.runtime} cannot publish a port of "${d.name}": ${d.address} is in use.`,
    hint: 'Choose another host port, or leave it out to get a free one.',
  },
  isolation_unsupported: {
    status: 400,
    text: (d: { runtime: string; problem: string; hint: string }) =>
      `${d.runtime} cannot isolate the network of a server here: ${d.problem}`,
    hint: d => d.hint,
  },
  mount_missing: {
    status: 400,
    text: (d: { path: string }) => `${d.path} cannot be mounted: there is no such file or folder.`,
  },
  mount_through_link: {
    status: 409,
    text: (d: { path: string; link: string; folder: string }) =>
      `${d.path} is not mounted: it leads through the link ${d.link}, which lies in ${d.folder}, where the server may write.`,
    hint: 'Look where the link leads. Remove it, or if you made it yourself, mount what it leads to by its own path.',
  },
  mount_wrong: {
    status: 400,
    text: (d: { field: string; value: string; wanted: string }) =>
      `${d.field} "${d.value}" in the run config is not ${d.wanted}.`,
  },
  env_refused: {
    status: 400,
    text: (d: { name: string; problem: string }) =>
      `The environment variable "${d.name}" cannot be set: ${d.problem}`,
  },
})
