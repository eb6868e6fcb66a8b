import * as t from 'typanion'
import type { Dialect, EngineEvent } from '../runtime-docker/index.ts'
import { identifyPodman } from './identify-podman.ts'

const open = { extra: t.isUnknown() }
const infoOutput = t.isObject(
  {
    host: t.isObject(
      {
        cgroupControllers: t.isOptional(t.isNullable(t.isArray(t.isString()))),
        cpus: t.isOptional(t.isNumber()),
        logDriver: t.isOptional(t.isString()),
        security: t.isOptional(t.isObject({ rootless: t.isOptional(t.isBoolean()) }, open)),
      },
      open,
    ),
    version: t.isOptional(t.isObject({ Version: t.isString() }, open)),
  },
  open,
)
const eventLine = t.isObject(
  {
    Name: t.isString(),
    Status: t.isString(),
    ContainerExitCode: t.isOptional(t.isNullable(t.isNumber())),
    Attributes: t.isOptional(t.isNullable(t.isRecord(t.isString()))),
  },
  open,
)

const isolationInfo = t.isObject(
  {
    host: t.isObject(
      {
        serviceIsRemote: t.isOptional(t.isBoolean()),
        security: t.isOptional(t.isObject({ rootless: t.isOptional(t.isBoolean()) }, open)),
      },
      open,
    ),
  },
  open,
)
const networks = t.isArray(
  t.isObject(
    {
      name: t.isString(),
      network_interface: t.isOptional(t.isString()),
      internal: t.isOptional(t.isBoolean()),
      labels: t.isOptional(t.isNullable(t.isRecord(t.isString()))),
      subnets: t.isOptional(
        t.isNullable(t.isArray(t.isObject({ gateway: t.isOptional(t.isString()) }, open))),
      ),
    },
    open,
  ),
)

const KINDS: Readonly<Record<string, EngineEvent['kind']>> = {
  start: 'started',
  died: 'exited',
  remove: 'removed',
}

const missingControllers = (controllers: readonly string[]) =>
  ['memory', 'cpu', 'pids'].filter(name => !controllers.includes(name))

/** The `podman` program, from 4 on: no daemon, images without a default registry. */
export const podmanDialect: Dialect = {
  name: 'podman',
  rank: 200,
  // conmon leaves a file `oom` there when an instance runs out of memory (cgroup v1).
  litters: true,
  readServer(output) {
    if (!infoOutput(output) || !output.version) return undefined
    const missing = missingControllers(output.host.cgroupControllers ?? [])
    const warning = `limits are not enforced without the cgroup controllers ${missing.join(', ')}.`
    return { version: output.version.Version, warnings: missing.length ? [warning] : [] }
  },
  infoArguments: ['info', '--format', 'json'],
  identify: identifyPodman,
  readAbilities(output) {
    const host = infoOutput(output) ? output.host : {}
    const missing = missingControllers(host.cgroupControllers ?? [])
    return {
      memory: !missing.includes('memory'),
      ...(!missing.includes('cpu') && host.cpus ? { cores: host.cpus } : {}),
      pids: !missing.includes('pids'),
      logOptions: host.logDriver === 'k8s-file' ? ['max-size=10m'] : [],
    }
  },
  restartsUnseen: true,
  initMissing: /container-init binary not found|catatonit|init_path/i,
  // By default podman hands the caller's proxy variables to the container.
  createArguments: ['--http-proxy=false'],
  // Without `notmpcopyup` podman copies the covered files into it.
  coverOptions: ['ro', 'notmpcopyup'],
  // Without this, the bytes of Ctrl-P Ctrl-Q in a message would end the stream, even without a terminal. A remote
  // engine refuses to have no detach keys; no message contains this sequence of control characters.
  attachArguments: info => {
    const isRemote = isolationInfo(info) && info.host.serviceIsRemote
    return [
      '--sig-proxy=false',
      `--detach-keys=${isRemote ? 'ctrl-_,ctrl-^,ctrl-@,ctrl-_,ctrl-^,ctrl-@' : ''}`,
    ]
  },
  // Otherwise podman first waits ten seconds for a server that ignores SIGTERM.
  removeArguments: ['--time', '0'],
  readEvent(line) {
    if (!eventLine(line)) return undefined
    const kind = KINDS[line.Status]
    if (!kind) return undefined
    // Podman leaves an exit code of 0 out of the line.
    const exit = kind === 'exited' ? { exitCode: line.ContainerExitCode ?? 0 } : {}
    return { kind, name: line.Name, labels: line.Attributes ?? {}, ...exit }
  },
  toPullReference: qualify,
  buildExtras: async () => ({ args: [], env: {} }),
  joiningExtras: { args: [], env: {} },
  symptoms: [
    {
      words: /setrlimit[^\n]*not permitted|error setting rlimit|RLIMIT_\w+[^\n]*not permitted/i,
      problem: words => `this machine does not let it raise resource limits: ${words}`,
      hint: 'Set lower ones in /etc/containers/containers.conf, section [containers]: default_ulimits = ["nofile=1024:1024","nproc=1024:1024"].',
    },
    {
      words: /cgroups? in hybrid mode not supported/i,
      problem: words => `its OCI runtime does not work with this machine's cgroups: ${words}`,
      hint: 'Install runc and set in /etc/containers/containers.conf, section [engine]: runtime = "runc".',
    },
    {
      words:
        /OCI runtime "[^"]*" not found|could not find a working (?:conmon|OCI)|crun[^\n]*(?:no such file|not found)/i,
      problem: words => `a program that it needs is missing: ${words}`,
      hint: 'Install runc (or crun) and conmon, and name the runtime in /etc/containers/containers.conf, section [engine].',
    },
    {
      words: /container-init binary not found|catatonit|init_path/i,
      problem: words => `its init helper is missing: ${words}`,
      hint: 'Install catatonit, or set init_path in /etc/containers/containers.conf, section [containers].',
    },
    {
      words: /newuidmap|newgidmap|no subuid ranges|cannot find UID\/GID|insufficient UIDs/i,
      problem: words => `this user has no ids to give to containers: ${words}`,
      hint: 'Install uidmap, run `sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $USER`, then `podman system migrate`.',
    },
    {
      words: /Cannot connect to Podman|unable to connect to Podman/i,
      problem: words => `its machine or remote engine cannot be reached: ${words}`,
      hint: 'Start it with `podman machine start` (first time: `podman machine init`), and check CONTAINER_HOST.',
    },
    {
      words:
        /permission denied[^\n]*(?:podman\.sock|\/run\/|storage)|mkdir \/run\/user\/\d+: permission denied/i,
      problem: words => `it may not use its folders: ${words}`,
      hint: 'Check XDG_RUNTIME_DIR, and who owns ~/.local/share/containers.',
    },
  ],
  isolation: {
    outside: 'podman',
    hostless: () => [],
    elsewhere(info) {
      const host = isolationInfo(info) ? info.host : {}
      if (host.serviceIsRemote) return 'the engine is remote: its networks are not networks of this host.'
      return host.security?.rootless
        ? 'the engine is rootless: its networks are not networks of this host.'
        : undefined
    },
    changesMac: true,
    half: 1,
    // Podman's name server would look up any name outside.
    createArguments: ['--disable-dns'],
    readNetworks: output =>
      networks(output)
        ? output.map(({ name, network_interface: bridge = '', internal = false, labels, subnets }) => ({
            name,
            bridge,
            gateway: subnets?.[0]?.gateway ?? '',
            internal,
            labels: labels ?? {},
          }))
        : [],
    joinOf: ({ pid }) => `ns:/proc/${pid}/ns/net`,
    activateArguments: ['init'],
  },
  install: 'Install podman (https://podman.io/docs/installation) or Docker Engine.',
}

/**
 * Adds the registry that docker assumes; podman assumes none. A first part with a
 * dot, a colon or the name `localhost` is a registry (the rule of the reference grammar of docker).
 */
function qualify(reference: string): string {
  const [first = '', ...rest] = reference.split('/')
  if (rest.length === 0) return `docker.io/library/${reference}`
  return /[.:]/.test(first) || first === 'localhost' ? reference : `docker.io/${reference}`
}
