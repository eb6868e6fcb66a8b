/** The form of a path that the router knows: `/groups/{name}` is `/groups/:name`. */
export const toRoute = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

/** Collections are found with a slash behind them too; single things are not. */
export const routesOf = (path: string): string[] => {
  const route = toRoute(path)
  return path.startsWith('/api/v1beta/') && /\/[a-z]+$/.test(path) && !path.includes('{')
    ? [route, `${route}/`]
    : [route]
}

/** Knows which methods a concrete path has, for `Allow`. */
export function createMethodIndex(): {
  add(method: string, route: string): void
  methodsOf(url: string): string[]
} {
  const known = new Map<string, { pattern: RegExp; methods: Set<string> }>()
  return {
    add(method, route) {
      const source = route
        .split('/')
        .map(part => (part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
        .join('/')
      const entry = known.get(route) ?? { pattern: new RegExp(`^${source}$`), methods: new Set<string>() }
      entry.methods.add(method)
      known.set(route, entry)
    },
    methodsOf(url) {
      const path = url.split('?')[0] ?? ''
      const fitting = [...known.values()].filter(({ pattern }) => pattern.test(path))
      return [...new Set(fitting.flatMap(({ methods }) => [...methods]))].sort()
    },
  }
}
