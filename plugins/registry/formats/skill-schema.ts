import { anyMap, type Check, type Limits, list, object, optional, string, strings } from './schema-checks.ts'

/** A skill of a registry. */
export const skillSchema = ({ text, oneOf }: Limits): Check =>
  object({
    namespace: text(3, 128),
    name: text(1, 64),
    description: text(1, 1024),
    version: text(1, 255),
    status: optional(oneOf(['active', 'deprecated', 'archived', 'ACTIVE', 'DEPRECATED', 'ARCHIVED'])),
    title: optional(text(1, 100)),
    license: optional(text(1, 256)),
    compatibility: optional(text(1, 500)),
    allowedTools: optional(strings),
    repository: optional(object({ url: string, type: string })),
    icons: optional(list(object({ src: string, size: string, type: string, label: string }))),
    packages: optional(
      list(
        object({
          registryType: oneOf(['oci', 'git']),
          identifier: string,
          digest: string,
          mediaType: string,
          url: string,
          ref: string,
          commit: string,
          subfolder: string,
        }),
      ),
    ),
    metadata: optional(anyMap),
    _meta: optional(anyMap),
  })
