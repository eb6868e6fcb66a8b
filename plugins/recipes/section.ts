import { assertUnset, sectionRequest } from '../../src/http/section-request.ts'
import { list, type ObjectOf, object, optional, text, textMap, texts } from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'
import { systemPackage } from './system-package.ts'

const options = {
  builder_image: optional(text),
  additional_packages: optional(texts),
  build_with: optional(texts),
}

const runtimeConfig = optional(
  object({ ...options, additional_packages: optional(list(systemPackage)), runtime_env: optional(textMap) }),
)

const members = { runtime_config: optional(object(options)) }

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

/** How the image of a package was built. */
export const recipeSection: Section = {
  members,
  request: sectionRequest({
    body: { runtime_config: runtimeConfig },
    details: { runtime_config: runtimeConfig },
    toOptions({ runtime_config: build = {} }) {
      assertUnset({ 'runtime_config.runtime_env': build.runtime_env })
      return {
        'runtime-image': build.builder_image,
        'runtime-add-package': build.additional_packages,
        'build-with': build.build_with,
      }
    },
    toDetails: ({ runtime_config }) =>
      runtime_config && Object.keys(runtime_config).length ? { runtime_config } : {},
  }),
}
