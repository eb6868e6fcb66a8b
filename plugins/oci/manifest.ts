import * as t from 'typanion'
import { DIGEST } from './digest.ts'
import { isIndexType, MEDIA_TYPES } from './media-types.ts'

/** Points at content: what, how large, which digest (OCI image specification, "Content Descriptors"). */
export interface Descriptor {
  mediaType: string
  digest: string
  size: number
  artifactType?: string
  annotations?: Record<string, string>
  platform?: Platform
}

export interface Platform {
  os: string
  architecture: string
  variant?: string
}

/** An image or artifact manifest. Unknown members are kept. */
export interface ImageManifest {
  schemaVersion: 2
  mediaType?: string
  artifactType?: string
  config: Descriptor
  layers: Descriptor[]
  subject?: Descriptor
  annotations?: Record<string, string>
}

/** A list of manifests: of an image's platforms, or of what refers to a digest. */
export interface ImageIndex {
  schemaVersion: 2
  mediaType?: string
  artifactType?: string
  manifests: Descriptor[]
  subject?: Descriptor
  annotations?: Record<string, string>
}

const extra = { extra: t.isUnknown() }
const optional = t.isOptional
const annotations = optional(t.isRecord(t.isString()))
const digest = t.cascade(t.isString(), [t.matchesRegExp(DIGEST)])
const size = t.cascade(t.isNumber(), [t.isInteger(), t.isInInclusiveRange(0, Number.MAX_SAFE_INTEGER)])

const descriptor = t.isObject(
  {
    mediaType: t.isString(),
    digest,
    size,
    artifactType: optional(t.isString()),
    annotations,
    platform: optional(
      t.isObject({ os: t.isString(), architecture: t.isString(), variant: optional(t.isString()) }, extra),
    ),
  },
  extra,
)

const common = {
  schemaVersion: t.isLiteral(2),
  mediaType: optional(t.isString()),
  artifactType: optional(t.isString()),
  subject: optional(descriptor),
  annotations,
}
const imageManifest = t.isObject({ ...common, config: descriptor, layers: t.isArray(descriptor) }, extra)
const imageIndex = t.isObject({ ...common, manifests: t.isArray(descriptor) }, extra)

export type ManifestDocument =
  | { readonly kind: 'manifest'; readonly mediaType: string; readonly content: ImageManifest }
  | { readonly kind: 'index'; readonly mediaType: string; readonly content: ImageIndex }

/**
 * Turns bytes into a manifest or an index, or says what is wrong with them.
 *
 * The media type inside the document wins over the header and must agree with it, so that nobody
 * reads the same bytes as two different things (CVE-2021-41190).
 */
export function parseManifest(bytes: Uint8Array, contentType: string): ManifestDocument | string {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return 'it is not JSON'
  }
  if (typeof value !== 'object' || value === null) return 'it is not a manifest'
  const { mediaType: inside } = value as { mediaType?: unknown }
  const outside = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  const known = Object.values<string>(MEDIA_TYPES)
  if (typeof inside === 'string' && known.includes(outside) && inside !== outside) {
    return `it calls itself ${inside.slice(0, 100)} but was sent as ${outside}`
  }
  if ('manifests' in value && ('layers' in value || 'config' in value)) {
    return 'it is a manifest and an index at once'
  }
  const mediaType = typeof inside === 'string' ? inside : outside
  const isIndex = 'manifests' in value
  if (known.includes(mediaType) && isIndexType(mediaType) !== isIndex) {
    return 'its content does not fit its media type'
  }
  const errors: string[] = []
  if (isIndex) {
    if (imageIndex(value, { errors })) {
      return { kind: 'index', mediaType: mediaType || MEDIA_TYPES.index, content: value as ImageIndex }
    }
  } else if (imageManifest(value, { errors })) {
    return { kind: 'manifest', mediaType: mediaType || MEDIA_TYPES.manifest, content: value as ImageManifest }
  }
  return `its ${errors[0]?.slice(0, 200) ?? 'members are wrong'}`
}

/** The member of an index for a platform; undefined when there is none. */
export function choosePlatform({ manifests }: ImageIndex, wanted: Platform): Descriptor | undefined {
  const fitting = manifests.filter(
    ({ platform }) => platform?.os === wanted.os && platform.architecture === wanted.architecture,
  )
  return fitting.find(({ platform }) => platform?.variant === wanted.variant) ?? fitting[0]
}
