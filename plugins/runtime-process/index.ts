import { join } from 'node:path'
import type { Plugin } from '../../src/plugin.ts'

/** Runs npx://, uvx:// and go:// packages straight on the host, in a sandbox where bubblewrap works. */
const runtimeProcess: Plugin = {
  name: 'runtime-process',
  provides: {
    runtimes: [
      async app => {
        const [{ createProcessRuntime }, { createPackageStore }, { findBubblewrap }] = await Promise.all([
          import('./process-runtime.ts'),
          import('./packages/package-store.ts'),
          import('./find-bubblewrap.ts'),
        ])
        const path = app.env.PATH ?? '/usr/local/bin:/usr/bin:/bin'
        return createProcessRuntime({
          folder: join(app.paths.data, 'processes'),
          sockets: join(app.paths.runtime, 'net'),
          packages: createPackageStore(join(app.paths.cache, 'packages')),
          bubblewrap: () => findBubblewrap(path),
          path,
        })
      },
    ],
  },
}
export default runtimeProcess
