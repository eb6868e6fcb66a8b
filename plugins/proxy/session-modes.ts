/** `auto`: a client gets a process of its own once the server has asked a client for something. */
export const SESSION_MODES = ['shared', 'per-client', 'auto'] as const
export const DEFAULT_MAX_PROCESSES = 16
export const DEFAULT_MAX_PROCESSES_PER_CALLER = 8
