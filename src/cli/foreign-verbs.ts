/** What to do instead of the commands of docker, kubectl and package managers that there are none of here. */
const HINTS: Readonly<Record<string, string>> = {
  add: 'A server: `keelson run TARGET`. A plugin: `keelson plugin add`.',
  apply: 'Run a file that `keelson export` has written with `keelson run --from-config FILE`.',
  attach: '`keelson logs NAME --follow` shows what a server prints.',
  create: 'Use `keelson run TARGET`.',
  delete: 'Use `keelson rm NAME`.',
  describe: 'Use `keelson status NAME`, or `keelson inspect NAME` for JSON.',
  down: 'Use `keelson stop --all`; `keelson rm --all` also removes the workloads.',
  exec: 'Servers have no shell here. `keelson mcp call TOOL --server NAME` calls a tool of one.',
  get: 'Use `keelson list`, or `keelson status NAME` for one workload.',
  images: 'Use `keelson registry list` for the servers that you can run.',
  info: 'Use `keelson status NAME` for a workload, or `keelson registry info SERVER` for a server of the registry.',
  init: 'Nothing has to be set up: `keelson run TARGET` is enough.',
  install: 'Use `keelson run TARGET`; the server is installed and started.',
  kill: 'Use `keelson stop NAME`.',
  login: 'For a remote server: `keelson auth login`. For the registry: `keelson registry login`.',
  port: '`keelson list` shows the URL of each workload, `keelson status NAME` its ports.',
  pull: 'Use `keelson run TARGET`, which fetches what is missing, or `keelson build TARGET`.',
  remove: 'Use `keelson rm NAME`.',
  top: 'Use `keelson stats`.',
  uninstall: 'Use `keelson rm NAME`.',
  up: 'Use `keelson start --all`.',
  update: 'Use `keelson upgrade apply NAME` for a newer version.',
}

/** The hint for somebody who types the command of another program. */
export const foreignVerbHint = (verb: string): string | undefined =>
  Object.hasOwn(HINTS, verb) ? HINTS[verb] : undefined
