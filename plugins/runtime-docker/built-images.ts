import type { ImageEntry } from '../../src/contracts/runtime.ts'
import { LABEL } from '../../src/lib/labels.ts'
import { parseMemory } from '../../src/lib/resources.ts'
import type { EngineCli } from './engine-cli.ts'

const FORMAT = '{{.ID}}\t{{.Repository}}:{{.Tag}}\t{{.Size}}'
/** The stages of a build under way. */
const STAGE = /\/building:/

/** The images that keelson has built on this engine. One without a tag has its id as name. */
export async function listBuilt(cli: EngineCli): Promise<ImageEntry[]> {
  const text = await cli.run(['image', 'ls', `--filter=label=${LABEL.recipe}`, `--format=${FORMAT}`], {
    doing: 'list its images',
  })
  return text.split('\n').flatMap(line => {
    const [id = '', reference = '', size = ''] = line.split('\t')
    if (!id || STAGE.test(reference)) return []
    return [{ name: reference.includes('<none>') ? id : reference, bytes: parseMemory(size) ?? 0 }]
  })
}
