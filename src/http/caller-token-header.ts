/** Carries the caller token. A page of another site cannot send it without a CORS preflight, which fails. */
export const CALLER_TOKEN_HEADER = 'keelson-caller-token'
