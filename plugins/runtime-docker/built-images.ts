import type { ImageEntry } from '../../src/contracts/runtime.ts'
import { LABEL } from '../../src/lib/labels.ts'
import { parseMemory } from '../../src/lib/resources.ts'
import type { EngineCli } from './engine-cli.ts'

const FORMAT = '{{.ID}}\t{{.Repository}}:{{.Tag}}\t{{.Size}}'
/** The stages of a build under way. */
const STAGE = /\/building:/
const OURS = /^keelson\.local\//
const UNTAGGED = '<none>:<none>'

/**
 * The images that keelson has built on this engine. One without a tag has its id as name. Images with a name that
 * the user chose are left out: the label alone proves little, since images that are built from ours inherit it.
 * Installations share images, which are named by their content; the engine keeps those that a container uses.
 */
export async function listBuilt(cli: EngineCli): Promise<ImageEntry[]> {
  const text = await cli.run(['image', 'ls', `--filter=label=${LABEL.recipe}`, `--format=${FORMAT}`], {
    doing: 'list its images',
  })
  return text.split('\n').flatMap(line => {
    const [id = '', reference = '', size = ''] = line.split('\t')
    const isUntagged = reference === UNTAGGED
    if (!id || STAGE.test(reference) || !(isUntagged || OURS.test(reference))) return []
    return [{ name: isUntagged ? id : reference, bytes: parseMemory(size) ?? 0 }]
  })
}
