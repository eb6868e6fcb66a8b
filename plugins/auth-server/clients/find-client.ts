import type { ServerSettings } from '../settings.ts'
import type { FindClient } from './client.ts'
import { createClientDocuments } from './client-documents.ts'
import { isUrl } from './document-url.ts'
import type { AddressOf } from './flood-limit.ts'
import type { RegisteredClients } from './registered-clients.ts'

/** Clients that registered themselves and, where that is switched on, clients that a document describes. */
export function createFindClient(
  clients: RegisteredClients,
  settings: ServerSettings,
  options: { addressOf: AddressOf; now: () => number },
): FindClient {
  const findDocument = settings.clientDocuments.isOn ? createClientDocuments(settings, options) : undefined
  return async (id, request) => {
    if (findDocument && isUrl(id)) return findDocument(id, request)
    const client = await clients.find(id)
    if (client) await clients.touch(client)
    return client
  }
}
