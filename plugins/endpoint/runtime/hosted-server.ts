import type { Agent } from 'undici'
import type { CallerLogin } from '../../../src/contracts/caller-auth.ts'
import type { EndpointServer } from '../server/endpoint-server.ts'
import type { SharedState } from './shared-state.ts'

/** The server of one client. It acts for that client at the servers behind the endpoint. */
export interface HostedServer extends Omit<EndpointServer, 'close'> {
  setLogin(login: CallerLogin): void
  close(): void
}

/** What the server of one client knows of that client. */
export interface ClientOfServer {
  readonly login: () => CallerLogin | undefined
  /** The connections for this client's requests. Those who have logged in share them with nobody. */
  readonly agent: () => Agent
}

/** @param options.release ends the use of the shared state */
export function createHostedServer(options: {
  shared: Pick<SharedState, 'agent'>
  createAgent: (login: () => CallerLogin | undefined) => Agent
  open: (client: ClientOfServer) => EndpointServer
  release: () => void
}): HostedServer {
  const { shared, createAgent, open, release } = options
  let current: CallerLogin | undefined
  let own: Agent | undefined
  const login = () => current
  const server = open({ login, agent: () => own ?? shared.agent })
  return {
    ...server,
    setLogin(now) {
      current = now
      own ??= createAgent(login)
    },
    close() {
      void server.close().then(() => {
        void own?.destroy()
        release()
      })
    },
  }
}
