import type { Readable, Writable } from 'node:stream'
import { serveHost } from '../../../plugins/egress/helper/serve-host.ts'
import { createResolver } from '../../../plugins/egress/resolver.ts'

/** Put in when it is bundled. */
declare const NAME_SERVER: string

/** What runs in the helper, but with the test's name server for the machine's. */
export default (input: Readable, output: Writable): Promise<void> =>
  serveHost(input, output, {
    onEnd: () => process.exit(),
    resolve: createResolver({ servers: [NAME_SERVER] }),
  })
