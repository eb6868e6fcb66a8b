import type { App } from '../../src/app.ts'
import type { Target } from '../../src/contracts/target.ts'
import { parseOciReference } from '../../src/lib/oci-reference.ts'

/**
 * Text that can be a name and not an image: one word, or a reverse-DNS namespace, `/`, one word; no tag, no
 * digest.
 */
const NAME = /^(?:[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\/)?[^\s/:@]+$/

/** A server of the registry, by its name: the entry says what runs and how, and flags win over it. */
export const registryTarget = (app: App): Target => ({
  kind: 'registry',

  /**
   * Whatever is plainly an image, a package or a URL is left to other targets without reading the registry.
   */
  async accepts(argument) {
    if (!NAME.test(argument)) return false
    const registry = await app.service('registry')
    return (await registry.find(argument)) !== undefined || !parseOciReference(argument)
  },

  defaultName: argument => argument.replace(/[./]/g, '-').replace(/[^A-Za-z0-9_-]+/g, '-'),

  async near(argument) {
    if (!NAME.test(argument)) return []
    return (await app.service('registry')).near(argument).catch(() => [])
  },

  async resolve(argument, context) {
    const { resolveServer } = await import('./resolve-server.ts') // only a run needs it
    return resolveServer(app, argument, context)
  },
})
