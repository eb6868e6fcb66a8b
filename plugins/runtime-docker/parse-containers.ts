import * as t from 'typanion'
import type { Instance, InstanceState } from '../../src/contracts/runtime.ts'
import { redact } from '../../src/lib/redact.ts'
import { parseDocument } from '../../src/parse-document.ts'

const open = { extra: t.isUnknown() }
const nullable = <T>(schema: t.StrictValidator<unknown, T>) => t.isOptional(t.isNullable(schema))

const binding = t.isObject({ HostIp: t.isString(), HostPort: t.isString() }, open)
const schema = t.isArray(
  t.isObject(
    {
      Id: t.isString(),
      Name: t.isString(),
      Created: t.isString(),
      State: t.isObject(
        {
          Status: t.isString(),
          StartedAt: nullable(t.isString()),
          FinishedAt: nullable(t.isString()),
          ExitCode: nullable(t.isNumber()),
          OOMKilled: nullable(t.isBoolean()),
          Error: nullable(t.isString()),
        },
        open,
      ),
      Config: t.isObject({ Image: nullable(t.isString()), Labels: nullable(t.isRecord(t.isString())) }, open),
      HostConfig: t.isOptional(
        t.isObject(
          { RestartPolicy: t.isOptional(t.isObject({ Name: t.isOptional(t.isString()) }, open)) },
          open,
        ),
      ),
      NetworkSettings: t.isOptional(
        t.isObject(
          {
            Ports: nullable(t.isRecord(t.isNullable(t.isArray(binding)))),
            Networks: nullable(t.isRecord(t.isObject({ IPAddress: nullable(t.isString()) }, open))),
          },
          open,
        ),
      ),
    },
    open,
  ),
)

const STATES: Readonly<Record<string, InstanceState>> = {
  created: 'created',
  configured: 'created',
  initialized: 'created',
  running: 'running',
  stopping: 'running',
  restarting: 'restarting',
  exited: 'exited',
  stopped: 'exited',
  dead: 'exited',
}

/** An instance, with the facts of its container that decide whether it is at rest. */
export interface Container {
  readonly instance: Instance
  readonly finishedAt: Date | undefined
  /** Its address in each of its networks. */
  readonly addresses: Readonly<Record<string, string>>
}

/** Reads what `container inspect` of either engine prints. `source` is named when it is not readable. */
export function parseContainers(text: string, source: string): Container[] {
  return parseDocument(text, source, schema).map(container => {
    const { State, Config, HostConfig, NetworkSettings } = container
    const state = STATES[State.Status] ?? 'unknown'
    const startedAt = toDate(State.StartedAt)
    const ended = state === 'exited' || state === 'restarting'
    const reason = ended ? whyEnded(State) : redact(State.Error?.trim() ?? '')
    const policy = HostConfig?.RestartPolicy?.Name || 'no'
    const instance: Instance = {
      name: container.Name.replace(/^\//, ''),
      id: container.Id,
      image: Config.Image ?? '',
      state,
      labels: Config.Labels ?? {},
      ports: state === 'running' ? toBindings(NetworkSettings?.Ports ?? {}) : [],
      createdAt: new Date(container.Created),
      ...(startedAt ? { startedAt } : {}),
      ...(ended && typeof State.ExitCode === 'number' ? { exitCode: State.ExitCode } : {}),
      ...(reason && state !== 'running' ? { reason } : {}),
      ...(policy === 'no' ? {} : { restarts: true }),
    }
    const addresses = Object.entries(NetworkSettings?.Networks ?? {}).flatMap(([network, { IPAddress }]) =>
      IPAddress ? [[network, IPAddress] as const] : [],
    )
    return {
      instance,
      finishedAt: toDate(State.FinishedAt),
      addresses: Object.fromEntries(addresses),
    }
  })
}

/** The engines write year 1 for what has not happened. */
function toDate(text: string | null | undefined): Date | undefined {
  const date = text ? new Date(text) : undefined
  return date && date.getTime() > 0 ? date : undefined
}

/** Exit code 128 + 9. Podman does not notice every time that memory runs out (cgroup v1). */
function whyEnded(state: {
  OOMKilled?: boolean | null | undefined
  Error?: string | null | undefined
  ExitCode?: number | null | undefined
}): string {
  if (state.OOMKilled) return 'out of memory'
  const error = redact(state.Error?.trim() ?? '')
  return (
    error ||
    (state.ExitCode === 137
      ? 'killed: it did not end when asked to, or the machine ran out of memory for it'
      : '')
  )
}

type Ports = Record<string, { HostIp: string; HostPort: string }[] | null>

const toBindings = (ports: Ports): Instance['ports'] =>
  Object.entries(ports).flatMap(([key, bindings]) =>
    (bindings ?? []).map(({ HostIp, HostPort }) => ({
      instancePort: Number.parseInt(key, 10),
      address: HostIp || '0.0.0.0',
      hostPort: Number(HostPort),
    })),
  )
