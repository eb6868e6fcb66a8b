import type { Target } from '../../../src/contracts/target.ts'
import { failures as core } from '../../../src/errors.ts'
import { guessTarget } from './guess-target.ts'

/** An MCP server that already runs elsewhere: fronted, not started. */
export const remoteTarget = (): Target => ({
  kind: 'remote',
  defaultTransport: 'streamable-http',
  accepts: argument => /^[a-z][a-z0-9+.-]*:\/\//i.test(argument),

  defaultName(argument) {
    const hostname = URL.parse(argument)?.hostname || 'remote' // `resolve` refuses an invalid URL
    if (/^[\d.]+$|:/.test(hostname)) return hostname.replace(/[^A-Za-z0-9.-]+/g, '-').replace(/^-+|-+$/g, '')
    const labels = hostname.split('.')
    return labels.at(-2) ?? hostname
  },

  async resolve(argument, { options }) {
    const url = URL.parse(argument)
    if (!url || !/^https?:$/.test(url.protocol) || !url.hostname) {
      throw core.usage({
        text: `"${argument}" is not the URL of a server: it must begin with http:// or https://.`,
        hint: guessTarget(argument),
      })
    }
    if (url.username || url.password) {
      throw core.usage({ text: 'The URL holds a user name or password, which would be stored and shown.' })
    }
    const { transport } = options
    if (transport === 'stdio') {
      throw core.usage({
        text: '--transport stdio does not go with a URL: a remote server speaks sse or streamable-http.',
      })
    }
    return { source: argument, remote_url: argument, transport: transport ?? 'streamable-http' }
  },
})
