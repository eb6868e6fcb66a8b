/**
 * Returns the member of a document at a path such as `authed_user.id` or `emails.0.value`. A member whose own name is
 * the whole path comes first.
 */
export function memberAt(document: unknown, path: string): unknown {
  if (isObject(document) && Object.hasOwn(document, path)) return document[path]
  let found = document
  for (const name of path.split('.')) {
    if (!isObject(found) || !Object.hasOwn(found, name)) return undefined
    found = found[name]
  }
  return found
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
