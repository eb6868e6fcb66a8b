const FIRST = '/oauth/callback'

/**
 * Returns the path that people come back to from an upstream provider. Each of several has its own, so that none can
 * pass the code of another one off as its own (mix-up; RFC 9700, section 4.4.2.2).
 */
export const callbackPath = (index: number, name: string): string =>
  index === 0 ? FIRST : `${FIRST}/${name}`

/** Returns the paths that people open in a browser. */
export const pagesOf = (upstreams: readonly { readonly name: string }[]): readonly string[] => [
  ...['/oauth/authorize', '/oauth/consent'],
  ...upstreams.map(({ name }, index) => callbackPath(index, name)),
]
