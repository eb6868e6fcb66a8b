import type { Socket } from 'node:net'
import type { Decision } from '../decision.ts'
import { type Connect, dial } from './dial.ts'
import type { EgressLimits } from './egress-limits.ts'
import { endWithRefusal, refuseUnreachable } from './egress-refusal.ts'
import { createReceiver } from './receiver.ts'
import { joinSockets } from './tunnel.ts'

/** Connects a client that sent CONNECT to the place that was allowed, or refuses it where that cannot be reached. */
export async function openTunnel(
  client: Socket,
  {
    early,
    decision,
    connect,
    limits,
  }: {
    /** What the client sent after its request. */
    early: Buffer
    decision: Decision
    connect: Connect
    limits: EgressLimits
  },
): Promise<void> {
  const { addresses, host, port } = decision
  const gone = new AbortController()
  const onGone = () => gone.abort()
  client.once('close', onGone)
  const receiver = createReceiver()
  try {
    const server = await dial({
      onread: receiver.onread,
      addresses,
      port,
      connect,
      timeoutMs: limits.connectMs,
      signal: gone.signal,
    })
    if (client.destroyed) return void server.destroy()
    joinSockets(client, server, { early, receiver }, limits)
  } catch (error) {
    if (!client.destroyed) endWithRefusal(client, refuseUnreachable(host, port, error))
  } finally {
    client.off('close', onGone)
  }
}
