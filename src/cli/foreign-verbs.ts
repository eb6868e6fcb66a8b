const WITHOUT = 'Omit the word: `keelson list`, `keelson run TARGET`, `keelson rm NAME`.'

/** What to do instead of the commands of docker, kubectl and package managers that there are none of here. */
const HINTS: Readonly<Record<string, string>> = {
  '--no-color': 'Set the variable NO_COLOR.',
  '-V': 'Use `keelson version`.',
  '-v': 'Use `keelson version`.',
  add: 'A server: `keelson run TARGET`. A plugin: `keelson plugin add`.',
  apply: 'Run a file that `keelson export` has written with `keelson run --from-config FILE`.',
  attach: '`keelson logs NAME --follow` shows what a server prints.',
  compose:
    'Run each server with `keelson run --group GROUP`; `keelson start --group GROUP` starts all of them.',
  container: WITHOUT,
  cp: 'Give a server a folder with `keelson run --volume HOST:CONTAINER`.',
  create: 'Use `keelson run TARGET`.',
  delete: 'Use `keelson rm NAME`.',
  describe: 'Use `keelson status NAME`, or `keelson inspect NAME` for JSON.',
  disable: 'Use `keelson stop NAME`.',
  docker: WITHOUT,
  down: 'Use `keelson stop --all`; `keelson rm --all` also removes the workloads.',
  enable: 'Use `keelson start NAME`.',
  'endpoint add': '`keelson endpoint edit NAME` changes its servers.',
  'endpoint delete': 'An endpoint is a workload: `keelson rm NAME`.',
  'endpoint remove': 'An endpoint is a workload: `keelson rm NAME`.',
  'endpoint rm': 'An endpoint is a workload: `keelson rm NAME`.',
  'endpoint start': 'An endpoint is a workload: `keelson start NAME`.',
  'endpoint stop': 'An endpoint is a workload: `keelson stop NAME`.',
  events: '`keelson logs NAME --follow` shows what a server prints.',
  exec: 'Servers have no shell here. `keelson mcp call TOOL --server NAME` calls a tool of one.',
  find: 'Use `keelson search WORD`.',
  get: 'Use `keelson list`, or `keelson status NAME` for one workload.',
  'group run': 'Use `keelson run --group GROUP TARGET`.',
  'group start': 'Use `keelson start --group GROUP`.',
  'group stop': 'Use `keelson stop --group GROUP`.',
  image:
    'Use `keelson registry list` for the servers that you can run, `keelson prune` for images that nothing uses.',
  images: 'Use `keelson registry list` for the servers that you can run.',
  info: 'Use `keelson status NAME` for a workload, or `keelson registry info SERVER` for a server of the registry.',
  init: 'Nothing has to be set up: `keelson run TARGET` is enough.',
  install: 'Use `keelson run TARGET`; the server is installed and started.',
  inspector: 'Use `keelson mcp list --server NAME` and `keelson mcp call TOOL --server NAME`.',
  keelson: WITHOUT,
  kill: 'Use `keelson stop NAME`.',
  login: 'For a remote server: `keelson auth login`. For the registry: `keelson registry login`.',
  logout: 'For a remote server: `keelson auth logout`. For the registry: `keelson registry logout`.',
  'mcp get': 'Clients read resources and prompts; `keelson mcp list --server NAME` shows them.',
  'mcp prompt': 'Clients read resources and prompts; `keelson mcp list --server NAME` shows them.',
  'mcp read': 'Clients read resources and prompts; `keelson mcp list --server NAME` shows them.',
  network:
    '`keelson egress explain NAME URL` says what a server may reach; `keelson run --permission-profile` sets it.',
  npx: 'Use `keelson run npx://PACKAGE`.',
  policy:
    'For who may call what, `keelson authz`. For what a server may reach, `keelson run --permission-profile`.',
  port: '`keelson list` shows the URL of each workload, `keelson status NAME` its ports.',
  ports: '`keelson list` shows the URL of each workload, `keelson status NAME` its ports.',
  pull: 'Use `keelson run TARGET`, which fetches what is missing, or `keelson build TARGET`.',
  push: 'For a skill: `keelson skill push`. Images of servers stay on this machine.',
  'registry add': 'Use `keelson config set-registry URL`.',
  'registry remove': 'Use `keelson config unset-registry`.',
  'registry set': 'Use `keelson config set-registry URL`.',
  'registry use': 'Use `keelson config set-registry URL`.',
  reload: 'Use `keelson restart NAME`.',
  remove: 'Use `keelson rm NAME`.',
  rollout: 'Use `keelson restart NAME`, or `keelson upgrade apply NAME` for a newer version.',
  scale: 'A workload is one server.',
  server: WITHOUT,
  servers: 'Use `keelson list` for those that you run, `keelson registry list` for those that you can run.',
  set: 'Use `keelson config` for settings, `keelson edit NAME` for a workload.',
  shell: 'Servers have no shell here. `keelson mcp call TOOL --server NAME` calls a tool of one.',
  ssh: 'Servers have no shell here. `keelson mcp call TOOL --server NAME` calls a tool of one.',
  'supervisor kill': 'Use `keelson supervisor stop`.',
  'supervisor logs': '`keelson supervisor status` shows the path of its log.',
  'supervisor restart':
    '`keelson supervisor stop` ends it; the next `keelson run` or `keelson start` starts it.',
  'supervisor start': 'It starts by itself with the next `keelson run` or `keelson start`.',
  system: 'Use `keelson doctor` for what works here, `keelson prune` to delete what nothing uses.',
  thv: WITHOUT,
  top: 'Use `keelson stats`.',
  uninstall: 'Use `keelson rm NAME`.',
  up: 'Use `keelson start --all`.',
  ui: 'Use `keelson serve --ui`.',
  update: 'Use `keelson upgrade apply NAME` for a newer version.',
  uvx: 'Use `keelson run uvx://PACKAGE`.',
  volume: 'Give a server a folder with `keelson run --volume HOST:CONTAINER`.',
  workload: WITHOUT,
  workloads: 'Use `keelson list`.',
}

/** The hint for somebody who types the command of another program, with the word of a group of ours in front or without. */
export const foreignVerbHint = (verb: string): string | undefined =>
  Object.hasOwn(HINTS, verb) ? HINTS[verb] : undefined

/** Words that other programs use for the same thing. */
const SAME: readonly (readonly string[])[] = [
  ['add', 'create', 'new', 'set', 'put', 'store', 'install', 'register'],
  ['rm', 'remove', 'delete', 'del', 'unset', 'uninstall', 'unregister'],
  ['info', 'inspect', 'get', 'show', 'view', 'describe'],
  ['list', 'ls', 'all', 'get', 'show', 'tools', 'resources', 'prompts', 'list-registered', 'status', 'check'],
]

/** Other words for what somebody may mean by a word. */
export const sameVerbs = (word: string): string[] => SAME.filter(words => words.includes(word)).flat()
