/** Media types and annotation names of skill artifacts, as ToolHive defines them. */
export const SKILL_ARTIFACT = {
  type: 'dev.toolhive.skills.v1',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  annotation: {
    created: 'org.opencontainers.image.created',
    title: 'org.opencontainers.image.title',
    name: 'dev.toolhive.skills.name',
    description: 'dev.toolhive.skills.description',
    version: 'dev.toolhive.skills.version',
    requires: 'dev.toolhive.skills.requires',
    allowedTools: 'dev.toolhive.skills.allowedTools',
    license: 'dev.toolhive.skills.license',
    files: 'dev.toolhive.skills.files',
  },
} as const
