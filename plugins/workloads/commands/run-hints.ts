const NO_SHELL = 'Nobody can type into a server; clients connect to its URL. Omit the flag.'
const BACKGROUND = 'Workloads run in the background unless --foreground is given. Omit the flag.'
const ENTRY = 'Arguments of the server go after `--`; its program cannot be replaced.'
const REMOVED = 'A workload stays until `keelson rm NAME`; with --foreground it is removed at the end.'
const MOUNT = 'Use `--volume HOST:CONTAINER[:ro]`.'
const CONFIG = 'Use `--from-config FILE` for a file that `keelson export` has written.'
const FOLDER = 'The folder that the image names is taken.'
const USER = 'The user that the image names is taken.'

/** For flags of `docker run` and `kubectl run`. */
export const RUN_HINTS: Readonly<Record<string, string>> = {
  args: ENTRY,
  arg: ENTRY,
  c: CONFIG,
  config: CONFIG,
  cwd: FOLDER,
  device: 'A server gets no devices of the host.',
  gpus: 'A server gets no devices of the host.',
  d: BACKGROUND,
  detach: BACKGROUND,
  i: NO_SHELL,
  json: 'Standard output is the URL alone; `keelson status NAME --format json` has the rest.',
  link: 'A server reaches only what its permission profile allows: --permission-profile.',
  header: 'Use `--remote-forward-headers NAME=VALUE`.',
  H: 'Use `--remote-forward-headers NAME=VALUE`.',
  t: NO_SHELL,
  interactive: NO_SHELL,
  tty: NO_SHELL,
  rm: REMOVED,
  entrypoint: ENTRY,
  command: ENTRY,
  image: 'Give the image without a flag: `keelson run IMAGE`.',
  m: 'Use `--memory SIZE`.',
  mount: MOUNT,
  port: 'For the port of the server use --target-port, for that of its proxy --proxy-port.',
  expose: 'For the port of the server use --target-port, for that of its proxy --proxy-port.',
  privileged: 'No server may have all rights of the host.',
  'cap-add': 'A server gets no further rights of the host.',
  pull: 'An image that is missing is fetched; `keelson upgrade check` finds newer ones.',
  restart: 'A server that crashes is restarted without a flag.',
  user: USER,
  u: USER,
  tmpfs: MOUNT,
  token:
    'Use --remote-auth-bearer-token-file for a remote server, --secret for what a server reads from a variable.',
  url: 'Give the URL without a flag: `keelson run URL`.',
  w: FOLDER,
  workdir: FOLDER,
  y: 'Name the package with its scheme: `keelson run npx://PACKAGE`.',
  yes: 'Use --accept-permissions where a registry entry wants mounts.',
}
