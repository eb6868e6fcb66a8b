import type { ImageEntry } from '../../src/contracts/runtime.ts'
import { LABEL } from '../../src/lib/labels.ts'
import { parseMemory } from '../../src/lib/resources.ts'
import type { EngineCli } from './engine-cli.ts'

const FORMAT = '{{.Repository}}:{{.Tag}}\t{{.Size}}'
/** The stages of a build under way. */
const STAGE = /\/building:/
const OURS = /^keelson\.local\//

/**
 * The images that keelson has built on this engine. Images without a tag, or with a name that the user chose, are left
 * out: the label alone proves little, since images that are built from ours inherit it.
 * Installations share images, which are named by their content; the engine keeps those that a container uses.
 */
export async function listBuilt(cli: EngineCli): Promise<ImageEntry[]> {
  const text = await cli.run(['image', 'ls', `--filter=label=${LABEL.recipe}`, `--format=${FORMAT}`], {
    doing: 'list its images',
  })
  return text.split('\n').flatMap(line => {
    const [name = '', size = ''] = line.split('\t')
    return OURS.test(name) && !STAGE.test(name) ? [{ name, bytes: parseMemory(size) ?? 0 }] : []
  })
}
