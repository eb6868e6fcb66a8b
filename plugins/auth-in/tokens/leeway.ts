/** Clocks of providers may differ from ours by this. */
export const LEEWAY_SECONDS = 30
