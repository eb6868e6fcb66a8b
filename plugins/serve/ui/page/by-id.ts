/** An element of index.html. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (!found) throw new Error(`There is no #${id}.`)
  return found
}
