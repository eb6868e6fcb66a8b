import { type FlagOptions, flag } from '../../src/cli/flags.ts'

/** Flags of `run` that the core's part of the run config comes from. */
export const runFlags = {
  name: flag.string('name of the workload (default: made from the target)', { placeholder: 'NAME' }),
  group: flag.string('group the workload belongs to [default]', {
    placeholder: 'GROUP',
    completes: 'groups',
  }),
  transport: flag.choice(
    'transport of the server (default: streamable-http for an image, stdio for a package)',
    ['stdio', 'sse', 'streamable-http'],
  ),
  runtime: flag.string('runtime to use: docker, podman, process (default: the best that works)', {
    placeholder: 'NAME',
    completes: 'runtimes',
  }),
  'no-sandbox': flag.boolean(
    'run a package on the process runtime without a sandbox: it can then read, change and reach everything that you can',
  ),
  foreground: flag.boolean('stay in the foreground, and remove the workload at the end', { short: 'f' }),
  'from-config': flag.file('run config to use, as `export` writes it'),
  env: flag.list('environment variable of the server', 'KEY=VALUE', { short: 'e' }),
  'env-file': flag.file('read environment variables from a file of KEY=VALUE lines'),
  'env-file-dir': flag.string('read environment variables from all files in a folder', {
    placeholder: 'DIR',
    completes: 'directory',
  }),
  volume: flag.list('mount a file or folder of the host', 'HOST:CONTAINER[:ro]', { short: 'v' }),
  publish: flag.list('publish another port of the server on 127.0.0.1', '[HOST:]CONTAINER', { short: 'p' }),
  network: flag.string('network of the container: bridge, none, host or a name', { placeholder: 'NETWORK' }),
  label: flag.list('label of the container', 'KEY=VALUE', { short: 'l' }),
  memory: flag.string('most memory the server may use, e.g. 512m', { placeholder: 'SIZE' }),
  cpus: flag.string('most processor cores the server may use, e.g. 0.5', { placeholder: 'N' }),
  'permission-profile': flag.string(
    'what the server may read, write and reach: none, network, or a JSON file',
    {
      placeholder: 'NAME|FILE',
      completes: 'file',
    },
  ),
} as const

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof runFlags> {}
}
