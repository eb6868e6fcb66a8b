import { createOAuthEngine } from '../../plugins/auth-out/oauth/engine.ts'
import type {
  BearerChallenge,
  ClientIdentity,
  LoginSettings,
  TokenSet,
} from '../../plugins/auth-out/oauth/types.ts'
import { findFreePort } from '../../src/lib/ports.ts'
import { createMcpClient, Refused } from './mcp-requests.ts'

// The client under test of the official suite: logs in with keelson's OAuth client, then lists and calls tools.
// The suite appends the server's URL; its authorization servers approve at once, so a browser is a redirect followed.

/** The document that the suite expects where a server reads client metadata documents. */
const CLIENT_METADATA = 'https://conformance-test.local/client-metadata.json'
/** A server that goes on refusing after this many logins will not be satisfied by another one. */
const MOST_LOGINS = 3

const target = process.argv.at(-1) ?? ''
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Record<string, string>
const version = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? '2025-11-25'
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? ''

const settings: LoginSettings = {
  clientMetadataUrl: CLIENT_METADATA,
  clientId: context.client_id,
  clientSecret: context.client_secret,
  privateKey: context.private_key_pem,
  privateKeyAlgorithm: context.signing_algorithm,
  // Scenarios run beside each other, and beside other logins of this machine.
  callbackPort: await findFreePort(),
}
const isMachine = scenario.startsWith('auth/client-credentials')
const engine = createOAuthEngine()
const reach = { target }
let tokens: TokenSet | undefined
let client: ClientIdentity | undefined
let logins = 0

const follow = async (url: string): Promise<boolean> => {
  void fetch(url, { redirect: 'follow' }).then(response => response.text())
  return true
}

async function logIn(challenge: BearerChallenge): Promise<void> {
  if (++logins > MOST_LOGINS) throw new Error(`the server refuses after ${MOST_LOGINS} logins`)
  const discovery = await engine.discover({ settings, challenge }, reach)
  const result = isMachine
    ? await engine.loginAsMachine({ discovery, settings }, reach)
    : await engine.login(
        {
          discovery,
          settings,
          client,
          grantedScopes: tokens?.scopes,
          person: { show: () => undefined, openBrowser: follow },
          waitMs: 15_000,
        },
        reach,
      )
  ;({ tokens, client } = result)
}

async function withLogin<T>(action: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await action()
    } catch (error) {
      const challenge =
        error instanceof Refused ? engine.readChallenge(error.status, error.challenge) : undefined
      if (!challenge) throw error
      await logIn(challenge)
    }
  }
}

const found = await engine.detect(reach)
if (found.kind === 'login') await logIn(found.challenge)
const mcp = createMcpClient(target, version, () => tokens?.accessToken)
await withLogin(() => mcp.open())
const tools = await withLogin(() => mcp.tools())
for (const { name } of tools) await withLogin(() => mcp.call(name))
