import { sectionRequest } from '../../src/http/section-request.ts'
import { type ObjectOf, optional, text, texts } from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'

const members = {
  /** Name of the entry that the workload was made from. */
  registry_server_name: optional(text),
  /** The registry it was found in, when that is a file on the network. */
  registry_url: optional(text),
  /** The same, when it is an API. */
  registry_api_url: optional(text),
  /** The same, whatever it is: a URL, a path, or `built-in catalogue`. */
  registry_source: optional(text),
  /** Variables that the entry listed then, whether or not they have a value. */
  registry_env_vars: optional(texts),
  /** Stands for the mounts that the entry wanted when the user decided about them; see `findWantedMounts`. */
  accepted_permissions: optional(text),
}

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

/** What a run config says about the registry entry it was made from. */
export const registrySection: Section = {
  members,
  request: sectionRequest({
    body: {},
    toOptions: () => ({}),
    keptWithTarget: [
      'registry_server_name',
      'registry_url',
      'registry_api_url',
      'registry_source',
      'registry_env_vars',
      'accepted_permissions',
    ],
  }),
}
