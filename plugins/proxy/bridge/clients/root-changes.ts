import type { Handshake } from '../server/handshake.ts'
import type { Session } from './client-sessions.ts'

const CHANGED = '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}'

/**
 * Makes a function that tells the server that its roots may have changed, because a client with roots has come or
 * gone. Otherwise the roots of the first client would hold for all later ones. A server that was not told of
 * `listChanged` (MCP, roots) gets nothing.
 */
export const createRootChanges =
  ({ handshake, write }: { handshake: Pick<Handshake, 'told'>; write: (text: string) => boolean }) =>
  ({ capabilities }: Session): void => {
    if (capabilities.roots !== undefined && handshake.told?.roots?.listChanged === true) write(CHANGED)
  }
