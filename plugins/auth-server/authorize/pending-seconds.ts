/** How long a person may take for each step of a login. */
export const PENDING_SECONDS = 600
