import { createCredentialFinder, type FindCredentials } from '../../../plugins/oci/credentials.ts'
import { createSession } from '../../../plugins/oci/oci-session.ts'
import { createOci, type Oci } from '../../../plugins/oci/service.ts'
import { createTransport } from '../../../plugins/oci/transport.ts'

/** The client as the plugin makes it; pauses between attempts are noted instead of waited for. */
export function ociClient(
  options: {
    env?: Record<string, string>
    home?: string
    credentials?: FindCredentials
    stepTimeoutMs?: number
    now?: () => number
    insecure?: string[]
  } = {},
): Oci & { pauses: number[] } {
  const { env = {}, home = '/nonexistent', now, stepTimeoutMs } = options
  const pauses: number[] = []
  const send = createTransport({
    env,
    ...(stepTimeoutMs ? { stepTimeoutMs } : {}),
    delay: async ms => pauses.push(ms),
  })
  const findCredentials = options.credentials ?? createCredentialFinder({ env, home })
  const session = createSession({ send, findCredentials, ...(now ? { now } : {}) })
  return { ...createOci({ session, insecure: new Set(options.insecure) }), pauses }
}
