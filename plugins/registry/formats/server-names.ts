/** Namespace of names without one, and of the members ToolHive adds to server.json. */
export const NAMESPACE = 'io.github.stacklok'

/** A name as server.json wants it: `fetch` becomes `io.github.stacklok/fetch`. */
export const toFullName = (name: string): string => (name.includes('/') ? name : `${NAMESPACE}/${name}`)

/** The name without the namespace that `toFullName` adds; names of other publishers stay whole. */
export const toOwnName = (name: string): string =>
  name.startsWith(`${NAMESPACE}/`) && name.indexOf('/') === name.lastIndexOf('/')
    ? name.slice(NAMESPACE.length + 1)
    : name

/** What stands behind the namespace. */
export const shortNameOf = (name: string): string => name.slice(name.indexOf('/') + 1)
