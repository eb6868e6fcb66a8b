import type { Plugin } from '../../src/plugin.ts'
import { Version } from './commands/version.ts'

/** Says which keelson this is. */
const version: Plugin = { name: 'version', commands: [Version] }
export default version
