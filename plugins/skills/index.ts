import type { Plugin } from '../../src/plugin.ts'

/** Finds, installs and keeps skills for AI clients. */
const skills: Plugin = {
  name: 'skills',
  needs: ['oci', 'image-verification', 'registry', 'clients', 'groups'],
}
export default skills
