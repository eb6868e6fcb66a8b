/** The caller's token of the first provider, in `Authorization`: what a section without members asks for, too. */
export const FIRST_TOKEN = { header_strategy: 'replace' } as const
