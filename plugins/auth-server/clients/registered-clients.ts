import { hashOf } from '../protocol/secrets.ts'
import type { Store } from '../storage/store.ts'
import type { Client } from './client.ts'

const DAY = 86_400_000
/** Clients that do nothing for so long are forgotten. */
const IDLE_MS = 30 * DAY
/** Anybody may register: a client that nobody has logged in with is forgotten before a flood has taken all the room. */
const UNUSED_MS = 7_200_000

/** The clients that registered themselves. */
export interface RegisteredClients {
  /** Returns false when there is no room for another one. */
  add(client: Client): Promise<boolean>
  find(id: string): Promise<Client | undefined>
  /** Keeps a client that somebody has logged in with, or that had a token of somebody who has. */
  keep(client: Client): Promise<void>
  /** Notes that a client has done something. */
  touch(client: Client): Promise<void>
}

export function createRegisteredClients(store: Store, now: () => number): RegisteredClients {
  const keyOf = (id: string) => hashOf('client', id)

  async function use(client: Client): Promise<void> {
    const changed = JSON.stringify({ ...client, usedAt: now() })
    await store.replace('client', keyOf(client.id), JSON.stringify(client), changed, IDLE_MS)
  }

  return {
    add(client) {
      return store.add('client', keyOf(client.id), JSON.stringify(client), UNUSED_MS)
    },
    async keep(client) {
      const isNew = client.usedAt === client.registeredAt
      if (isNew || now() - client.usedAt >= DAY) await use(client)
    },
    async find(id) {
      const value = await store.get('client', keyOf(id))
      return value === undefined ? undefined : (JSON.parse(value) as Client)
    },
    async touch(client) {
      if (now() - client.usedAt >= DAY) await use(client)
    },
  }
}
