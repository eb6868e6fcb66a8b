import type { Plugin } from '../../src/plugin.ts'

export type * from './oauth/types.ts'

/** Logs in to remote MCP servers, as an OAuth client. */
const authOut: Plugin = { name: 'auth-out' }
export default authOut
