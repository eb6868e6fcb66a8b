import { dirname } from 'node:path'

/** What one plugin's manifest says about services, and what its code calls. */
interface PluginServices {
  readonly offers: readonly string[]
  /** Plugins that it imports. */
  readonly needs: readonly string[]
  readonly uses: readonly string[]
  readonly wants: readonly string[]
  /** Where each service is asked for: `service` fails without it, `find` does not. */
  readonly calls: readonly { readonly file: string; readonly how: string; readonly service: string }[]
}

/** A call of a service in code; comments do not count. */
const CALL = /\bapp\s*\.(service|find)\(\s*'(\w+)'/g

/**
 * Holds what manifests say about services: a plugin declares each service of another that it calls
 * (`uses`: it cannot do without, `wants`: it can), declares none that it does not call, and no plugins
 * need each other in a circle. The core calls none. Returns one line for each violation.
 */
export function checkServices(sources: ReadonlyMap<string, string>): string[] {
  const plugins = readPlugins(sources)
  const providers = new Map(
    [...plugins].flatMap(([name, { offers }]) => offers.map(service => [service, name] as const)),
  )
  const ofCore = [...sources]
    .filter(([file]) => file.startsWith('src/'))
    .flatMap(([file, text]) =>
      callsIn(file, text).map(call => `${file}: the core calls the service ${call.service}`),
    )
  const ofPlugins = [...plugins].flatMap(([name, plugin]) => [
    ...undeclared(name, plugin),
    ...unused(name, plugin, providers),
  ])
  return [...ofCore, ...ofPlugins, ...circles(plugins, providers)]
}

function readPlugins(sources: ReadonlyMap<string, string>): ReadonlyMap<string, PluginServices> {
  const entries = entriesIn(sources.get('plugins/index.ts') ?? '')
  const manifests = [...sources.keys()].filter(file => /^plugins\/[^/]+\/index\.ts$/.test(file))
  return new Map(
    manifests.map(manifest => {
      const folder = `${dirname(manifest)}/`
      const name = folder.split('/')[1] ?? ''
      const text = sources.get(manifest) ?? ''
      const calls = [...sources].filter(([file]) => file.startsWith(folder))
      return [
        name,
        {
          offers: listIn(entries.get(name) ?? '', 'services'),
          needs: listIn(text, 'needs'),
          uses: listIn(text, 'uses'),
          wants: listIn(text, 'wants'),
          calls: calls.flatMap(([file, source]) => callsIn(file, source)),
        },
      ] as const
    }),
  )
}

/** The text of each plugin's entry in `plugins/index.ts`, which names the services that it offers. */
const entriesIn = (list: string): ReadonlyMap<string, string> =>
  new Map(
    [...list.matchAll(/name: '([^']+)',([\s\S]*?)load:/g)].map(match => [match[1] ?? '', match[2] ?? '']),
  )

const listIn = (text: string, member: string): readonly string[] =>
  [...(new RegExp(`\\b${member}:\\s*\\[([^\\]]*)\\]`).exec(text)?.[1] ?? '').matchAll(/'([^']+)'/g)].map(
    match => match[1] ?? '',
  )

function callsIn(file: string, source: string): PluginServices['calls'] {
  const code = source.replace(/^\s*(\/?\*|\/\/).*$/gm, '')
  return [...code.matchAll(CALL)].map(([, how = '', service = '']) => ({ file, how, service }))
}

function undeclared(name: string, { offers, uses, wants, calls }: PluginServices): string[] {
  return calls.flatMap(({ file, how, service }) => {
    if (offers.includes(service) || wants.includes(service)) return []
    if (!uses.includes(service))
      return [`${file}: calls the service ${service}, which ${name} does not declare`]
    return how === 'find' ? [`${file}: looks for the service ${service}, which ${name} requires`] : []
  })
}

function unused(
  name: string,
  { uses, wants, calls }: PluginServices,
  providers: ReadonlyMap<string, string>,
): string[] {
  return [...uses, ...wants].flatMap(service => {
    const where = `plugins/${name}/index.ts: declares the service ${service}`
    if (!providers.has(service)) return [`${where}, which no plugin offers`]
    if (uses.includes(service) && wants.includes(service)) return [`${where} as required and as optional`]
    return calls.some(call => call.service === service) ? [] : [`${where}, which it does not call`]
  })
}

/** Each circle once, named from its first plugin in the alphabet. */
function circles(
  plugins: ReadonlyMap<string, PluginServices>,
  providers: ReadonlyMap<string, string>,
): string[] {
  const required = (name: string): readonly string[] => {
    const { needs = [], uses = [] } = plugins.get(name) ?? {}
    return [...new Set([...needs, ...uses.flatMap(service => providers.get(service) ?? [])])]
  }
  const found: string[] = []
  const walk = (path: readonly string[]): void => {
    for (const next of required(path.at(-1) ?? '')) {
      if (next === path[0] && path.length > 1) found.push([...path, next].join(' → '))
      else if (next > (path[0] ?? '') && !path.includes(next)) walk([...path, next])
    }
  }
  for (const name of plugins.keys()) walk([name])
  return found.map(circle => `plugins require each other in a circle: ${circle}`)
}
