import { parseRegistry } from '../formats/parse-registry.ts'
import { toUpstream } from '../formats/write-registry.ts'
import servers from './servers.json' with { type: 'json' }
import skills from './skills.json' with { type: 'json' }

/**
 * Our catalogue in the server.json format. The servers are kept in the older one, which is a third
 * as long and easier to review; nothing is lost on the way.
 */
export function readCatalogue(): string {
  const { document, problems } = parseRegistry(
    JSON.stringify(servers),
    'plugins/registry/catalogue/servers.json',
    'full',
  )
  if (problems.length) throw new Error(`the built-in catalogue is broken: ${problems.join('; ')}`)
  return JSON.stringify(toUpstream({ ...document, skills }), null, 2)
}
