/**
 * Serves an authorization server until it is killed, and writes its port on a line. Arguments: the folder of its
 * state, its issuer, and the origin of the provider where people log in.
 */
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openServer } from '../../../plugins/auth-server/open-server.ts'
import { sendReply } from '../../../plugins/auth-server/protocol/reply.ts'
import { serverFolder } from '../../../plugins/auth-server/server-folder.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'

const [folder = '', issuer = '', provider = ''] = process.argv.slice(2)
const upstream = {
  name: 'plain',
  type: 'oauth2' as const,
  oauth2_config: {
    authorization_endpoint: `${provider}/authorize`,
    token_endpoint: `${provider}/token`,
    ...{ client_id: 'app', client_secret_env_var: 'APP_SECRET' },
    userinfo: { endpoint_url: `${provider}/user`, field_mapping: { subject_fields: ['id'] } },
  },
}
const auth = await openServer(
  {
    name: 'notes',
    folder: serverFolder(findPaths({ HOME: folder, XDG_STATE_HOME: folder }), 'notes'),
    url: `${issuer}/mcp`,
  },
  { issuer, upstreams: [upstream], storage: { type: 'sqlite' }, allow_confidential_clients: true },
  {
    log: createLog({ write: line => writeSync(2, `${line}\n`), human: false, debug: false }),
    env: { APP_SECRET: 'app-secret' },
  },
)
const server = createServer(async (request, response) => {
  response.setHeader('connection', 'close') // no connection of a client outlives this process
  const reply = await auth.respond({ request, signal: AbortSignal.timeout(60_000) })
  if (reply) sendReply(request, response, reply)
  else response.writeHead(404).end()
})
await once(server.listen(0, '127.0.0.1'), 'listening')
writeSync(1, `${(server.address() as AddressInfo).port}\n`)
