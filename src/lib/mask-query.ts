/** A URL as it is shown: values of its query, which may be API keys, and a password are left out. */
export const maskQuery = (url: string): string =>
  url.replace(/([?&][^=&#\s]+=)[^&#\s]+/g, '$1***').replace(/(:\/\/[^/\s:@]*:)[^@\s/]+@/g, '$1***@')
