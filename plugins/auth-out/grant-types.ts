/** How access tokens are got at first (RFC 6749 sections 4.1 and 4.4). */
export const GRANT_TYPES = ['authorization_code', 'client_credentials'] as const

/** Whether nobody logs in: the client gets tokens with its own secret or private key. */
export const isMachine = ({ grant_type }: { grant_type?: string | undefined } = {}): boolean =>
  grant_type === 'client_credentials'
