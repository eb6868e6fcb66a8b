import { builtins } from '../../plugins/index.ts'

/** The plugins that proxies ask whether callers need a token. */
export const CALLERS = builtins.filter(({ name }) => name === 'callers' || name === 'settings')
