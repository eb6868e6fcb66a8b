/** Media types of the OCI image specification, and Docker's of before. */
export const MEDIA_TYPES = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
  empty: 'application/vnd.oci.empty.v1+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
  dockerList: 'application/vnd.docker.distribution.manifest.list.v2+json',
} as const

/** What we can read, as an `Accept` header. */
export const ACCEPT_MANIFEST = [
  MEDIA_TYPES.index,
  MEDIA_TYPES.manifest,
  MEDIA_TYPES.dockerList,
  MEDIA_TYPES.dockerManifest,
].join(', ')

export const isIndexType = (type: string): boolean =>
  type === MEDIA_TYPES.index || type === MEDIA_TYPES.dockerList
