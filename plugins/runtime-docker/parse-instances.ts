import * as t from 'typanion'
import type { Instance, InstanceState } from '../../src/contracts/runtime.ts'
import { parseDocument } from '../../src/document.ts'
import { redact } from '../../src/lib/redact.ts'

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
          ExitCode: nullable(t.isNumber()),
          OOMKilled: nullable(t.isBoolean()),
          Error: nullable(t.isString()),
        },
        open,
      ),
      Config: t.isObject({ Image: nullable(t.isString()), Labels: nullable(t.isRecord(t.isString())) }, open),
      NetworkSettings: t.isOptional(
        t.isObject({ Ports: nullable(t.isRecord(t.isNullable(t.isArray(binding)))) }, open),
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

/** Reads what `container inspect` of either engine prints. `source` is named when it is not readable. */
export function parseInstances(text: string, source: string): Instance[] {
  return parseDocument(text, source, schema).map(container => {
    const { State, Config, NetworkSettings } = container
    const state = STATES[State.Status] ?? 'unknown'
    const startedAt = State.StartedAt ? new Date(State.StartedAt) : undefined
    const ended = state === 'exited' || state === 'restarting'
    const reason = ended ? whyEnded(State) : redact(State.Error?.trim() ?? '')
    return {
      name: container.Name.replace(/^\//, ''),
      id: container.Id,
      image: Config.Image ?? '',
      state,
      labels: Config.Labels ?? {},
      ports: state === 'running' ? toBindings(NetworkSettings?.Ports ?? {}) : [],
      createdAt: new Date(container.Created),
      // An instance that never ran started in year 1.
      ...(startedAt && startedAt.getTime() > 0 ? { startedAt } : {}),
      ...(ended && typeof State.ExitCode === 'number' ? { exitCode: State.ExitCode } : {}),
      ...(reason && state !== 'running' ? { reason } : {}),
    }
  })
}

/** Exit code 128 + 9: podman does not notice every want of memory (cgroup v1). */
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
