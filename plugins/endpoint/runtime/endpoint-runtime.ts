import { Readable } from 'node:stream'
import type { Attachment, Instance, InstanceSpec, Runtime } from '../../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../../src/contracts/runtime-failures.ts'
import { LABEL } from '../../../src/lib/labels.ts'
import { ENDPOINT_RUNTIME } from '../section.ts'
import type { HostedServer } from './hosted-server.ts'
import { attachInProcess } from './in-process-attachment.ts'

interface Hosted {
  readonly spec: InstanceSpec
  readonly createdAt: Date
  running?: { readonly attachment: Attachment & { end(): void }; readonly startedAt: Date }
}

/**
 * Runs the servers that endpoints are, in the process of the supervisor: an endpoint starts no program.
 *
 * @param options.open makes the server of one client for the endpoint of that name
 */
export function createEndpointRuntime(options: {
  open: (workload: string) => Promise<(send: (text: string) => boolean) => HostedServer>
}): Runtime {
  const instances = new Map<string, Hosted>()

  function find(name: string): Hosted {
    const found = instances.get(name)
    if (!found) throw runtimeFailures.instance_missing({ runtime: ENDPOINT_RUNTIME, name })
    return found
  }

  const toInstance = ({ spec, createdAt, running }: Hosted): Instance => ({
    name: spec.name,
    id: spec.name,
    image: spec.image,
    state: running ? 'running' : 'created',
    labels: spec.labels,
    ports: [],
    createdAt,
    ...(running ? { startedAt: running.startedAt } : {}),
  })

  return {
    name: ENDPOINT_RUNTIME,
    isInternal: true,
    probe: async () => ({ ok: true, version: '1', warnings: [] }),
    async create(spec) {
      instances.get(spec.name)?.running?.attachment.end()
      instances.set(spec.name, { spec, createdAt: new Date() })
    },
    start: async name => void find(name),
    async attach(name) {
      const hosted = find(name)
      hosted.running?.attachment.end()
      const attachment = attachInProcess(await options.open(hosted.spec.labels[LABEL.name] ?? name))
      const running = { attachment, startedAt: new Date() }
      hosted.running = running
      void attachment.exit.then(() => {
        if (hosted.running === running) delete hosted.running
      })
      return attachment
    },
    stop: async name => instances.get(name)?.running?.attachment.end(),
    async remove(name) {
      instances.get(name)?.running?.attachment.end()
      instances.delete(name)
    },
    async inspect(name) {
      const hosted = instances.get(name)
      return hosted && toInstance(hosted)
    },
    list: async () => [...instances.values()].map(toInstance),
    logs: async name => {
      find(name)
      return Readable.from([])
    },
    async *watch(signal) {
      await new Promise<void>(resolve => {
        if (signal.aborted) resolve()
        else signal.addEventListener('abort', () => resolve(), { once: true })
      })
    },
  }
}
