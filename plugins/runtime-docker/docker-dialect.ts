import { hostname } from 'node:os'
import * as t from 'typanion'
import { toCreateRequest } from './create-request.ts'
import type { Dialect, EngineEvent } from './dialect.ts'
import { findDockerSocket } from './docker-socket.ts'

const open = { extra: t.isUnknown() }
const versionOutput = t.isObject(
  { Server: t.isOptional(t.isNullable(t.isObject({ Version: t.isString() }, open))) },
  open,
)
const infoOutput = t.isObject(
  {
    MemoryLimit: t.isOptional(t.isBoolean()),
    CpuCfsQuota: t.isOptional(t.isBoolean()),
    NCPU: t.isOptional(t.isNumber()),
    PidsLimit: t.isOptional(t.isBoolean()),
    LoggingDriver: t.isOptional(t.isString()),
  },
  open,
)
const eventLine = t.isObject(
  { Action: t.isString(), Actor: t.isObject({ Attributes: t.isRecord(t.isString()) }, open) },
  open,
)

const isolationInfo = t.isObject(
  {
    Name: t.isOptional(t.isString()),
    OperatingSystem: t.isOptional(t.isString()),
    SecurityOptions: t.isOptional(t.isNullable(t.isArray(t.isString()))),
  },
  open,
)
const networks = t.isArray(
  t.isObject(
    {
      Name: t.isString(),
      Id: t.isString(),
      Internal: t.isBoolean(),
      Labels: t.isOptional(t.isNullable(t.isRecord(t.isString()))),
      IPAM: t.isObject(
        {
          Config: t.isOptional(
            t.isNullable(t.isArray(t.isObject({ Gateway: t.isOptional(t.isString()) }, open))),
          ),
        },
        open,
      ),
    },
    open,
  ),
)
/** The old builder leaves the container of a failed step. */
const OLD_BUILDER = { args: ['--force-rm'], env: { DOCKER_BUILDKIT: '0' } }

const bridgeOf = (id: string): string => `br-${id.slice(0, 12)}`

const KINDS: Readonly<Record<string, EngineEvent['kind']>> = {
  start: 'started',
  die: 'exited',
  destroy: 'removed',
}

/** The `docker` program, from 20.10 on. */
export const dockerDialect: Dialect = {
  name: 'docker',
  rank: 100,
  litters: false,
  probeArguments: ['version', '--format', '{{json .}}'],
  readServer(output) {
    const server = versionOutput(output) ? output.Server : undefined
    return server ? { version: server.Version, warnings: [] } : undefined
  },
  infoArguments: ['info', '--format', '{{json .}}'],
  readAbilities(output) {
    const info = infoOutput(output) ? output : {}
    const rotates = info.LoggingDriver === 'json-file' || info.LoggingDriver === 'local'
    return {
      memory: info.MemoryLimit ?? true,
      ...(info.CpuCfsQuota !== false && info.NCPU ? { cores: info.NCPU } : {}),
      pids: info.PidsLimit ?? true,
      logOptions: rotates ? ['max-size=10m', 'max-file=3'] : [],
    }
  },
  restartsUnseen: false,
  initMissing: /docker-init[^\n]*(?:not found|no such file)/i,
  createArguments: [],
  createRequest: toCreateRequest,
  coverOptions: ['readonly'],
  socket: findDockerSocket,
  attachArguments: () => [],
  removeArguments: [],
  readEvent(line) {
    if (!eventLine(line)) return undefined
    const { name, exitCode, ...labels } = line.Actor.Attributes
    const kind = KINDS[line.Action]
    if (!kind || name === undefined) return undefined
    return { kind, name, labels, ...(exitCode === undefined ? {} : { exitCode: Number(exitCode) }) }
  },
  toPullReference: reference => reference,
  /** Without buildx newer clients refuse BuildKit. */
  async buildExtras(hasPlugin) {
    if (await hasPlugin('buildx')) return { args: [], env: {} }
    return OLD_BUILDER
  },
  joiningExtras: OLD_BUILDER, // BuildKit joins no networks
  symptoms: [
    {
      words: /permission denied while trying to connect|dial unix [^\n]*: connect: permission denied/i,
      problem: () => 'this user may not open its socket (permission denied).',
      hint: 'Add yourself to the group "docker" (`sudo usermod -aG docker $USER`) and log in again, or use rootless docker or podman.',
    },
    {
      words: /context "([^"]*)"[^\n]*(?:not found|does not exist)|unable to resolve docker endpoint/i,
      problem: words => `its context cannot be used: ${words}`,
      hint: '`docker context ls` lists the contexts, `docker context use default` goes back; check DOCKER_CONTEXT.',
    },
    {
      words: /client version [\d.]+ is too (?:new|old)/i,
      problem: words => `program and engine do not understand each other: ${words}`,
      hint: 'Update the older of the two, or set DOCKER_API_VERSION to what the message names.',
    },
    {
      words:
        /(?:Cannot connect to the Docker daemon|failed to connect to the docker API) at (?:unix|npipe):/i,
      problem: words => `the engine is not running: ${words}`,
      hint: 'Start it: `sudo systemctl start docker`, or open Docker Desktop.',
    },
    {
      words:
        /Cannot connect to the Docker daemon|failed to connect to the docker API|error during connect|cannot connect to the docker/i,
      problem: words => `the engine that DOCKER_HOST or the docker context names cannot be reached: ${words}`,
      hint: 'Check DOCKER_HOST and `docker context ls`, and that the engine runs there.',
    },
    {
      words: /docker-init[^\n]*(?:not found|no such file)/i,
      problem: () => 'its helper docker-init is missing.',
      hint: 'Install it (Debian: `apt-get install tini`, then link it as docker-init).',
    },
  ],
  isolation: {
    outside: 'bridge',
    // Docker requires a gateway, but does not have to assign the address.
    hostless: gateway => [`--gateway=${gateway}`, '--opt=com.docker.network.bridge.inhibit_ipv4=true'],
    elsewhere(info) {
      const { OperatingSystem = '', SecurityOptions } = isolationInfo(info) ? info : {}
      if (SecurityOptions?.some(option => /name=rootless/.test(option))) {
        return 'the engine is rootless: its networks are not networks of this host.'
      }
      return /Docker Desktop/i.test(OperatingSystem)
        ? 'the engine runs in a virtual machine (Docker Desktop): its networks are not networks of this host.'
        : undefined
    },
    mayBeElsewhere: info => isolationInfo(info) && info.Name !== undefined && info.Name !== hostname(),
    changesMac: false, // docker keeps the MAC address or announces the new one
    half: 0,
    createArguments: [],
    readNetworks: output =>
      networks(output)
        ? output.map(({ Name, Id, Internal, Labels, IPAM }) => ({
            name: Name,
            bridge: bridgeOf(Id),
            gateway: IPAM.Config?.[0]?.Gateway ?? '',
            internal: Internal,
            labels: Labels ?? {},
          }))
        : [],
    joinOf: ({ name }) => `container:${name}`,
    bridgeOf: created => bridgeOf(created.trim()),
  },
  install: 'Install Docker Engine (https://docs.docker.com/engine/install/) or podman.',
}
