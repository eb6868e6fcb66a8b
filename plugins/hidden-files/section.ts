import { sectionRequest } from '../../src/http/section-request.ts'
import { bool, type ObjectOf, object, optional } from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'

const members = {
  ignore_config: optional(object({ loadGlobal: optional(bool), printOverlays: optional(bool) })),
}

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

/** Which ignore files a workload was run with. */
export const hiddenFilesSection: Section = {
  members,
  request: sectionRequest({
    body: members,
    toOptions: ({ ignore_config: ignore = {} }) => ({
      'ignore-globally': ignore.loadGlobal === false ? false : undefined,
      'print-resolved-overlays': ignore.printOverlays || undefined,
    }),
    kept: ['ignore_config'],
  }),
}
