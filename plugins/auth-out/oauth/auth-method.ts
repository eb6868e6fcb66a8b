import type { ClientAuthMethod, ServerMetadata } from './types.ts'

/**
 * How to authenticate with a secret: as the server lists, else by HTTP Basic, which every server with secrets must
 * know (RFC 6749 section 2.3.1).
 */
export function methodForSecret({
  token_endpoint_auth_methods_supported: methods,
}: ServerMetadata): ClientAuthMethod {
  const isPostOnly = methods?.includes('client_secret_post') && !methods.includes('client_secret_basic')
  return isPostOnly ? 'client_secret_post' : 'client_secret_basic'
}

/** How to ask to be registered: without a secret where possible, since a program cannot keep one for all users. */
export function methodToRegister(server: ServerMetadata): ClientAuthMethod {
  const { token_endpoint_auth_methods_supported: methods } = server
  return !methods || methods.includes('none') ? 'none' : methodForSecret(server)
}

const METHODS: readonly string[] = ['none', 'client_secret_basic', 'client_secret_post']

/** The method of a registration response; undefined for one that we cannot use. */
export function readMethod(value: unknown, fallback: ClientAuthMethod): ClientAuthMethod | undefined {
  if (value === undefined || value === null) return fallback
  return METHODS.includes(String(value)) ? (String(value) as ClientAuthMethod) : undefined
}
