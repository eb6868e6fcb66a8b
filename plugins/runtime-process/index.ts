import { join } from 'node:path'
import type { App } from '../../src/app.ts'
import type { Plugin } from '../../src/plugin.ts'
import type { InstallWithNpm } from './packages/npm-install.ts'

export type { InstallWithNpm, NpmResult } from './packages/npm-install.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    npmInstall: InstallWithNpm
  }
}

const pathOf = ({ env }: App): string => env.PATH ?? '/usr/local/bin:/usr/bin:/bin'

/** Makes the sandboxes in which packages of strangers are installed. */
async function installSandbox(app: App) {
  const [{ createInstallSandbox }, { rememberBubblewrap }] = await Promise.all([
    import('./packages/install-sandbox.ts'),
    import('./remember-bubblewrap.ts'),
  ])
  return createInstallSandbox({
    caches: join(app.paths.cache, 'tools'),
    sockets: join(app.paths.runtime, 'net'),
    bubblewrap: () => rememberBubblewrap(pathOf(app), app.paths.runtime),
    egress: () => app.service('egress'),
    log: app.log,
  })
}

/** Runs npx://, uvx:// and go:// packages straight on the host, in a sandbox where bubblewrap works. */
const runtimeProcess: Plugin = {
  name: 'runtime-process',
  needs: ['egress'],
  uses: ['egress'],
  services: {
    npmInstall: async app =>
      (await import('./packages/npm-install.ts')).createNpmInstall(await installSandbox(app)),
  },
  provides: {
    runtimes: [
      async app => {
        const [
          { createProcessRuntime },
          { createPackageStore },
          { packageTools },
          { rememberNewest },
          { rememberBubblewrap },
        ] = await Promise.all([
          import('./process-runtime.ts'),
          import('./packages/package-store.ts'),
          import('./packages/package-tools.ts'),
          import('./packages/remember-newest.ts'),
          import('./remember-bubblewrap.ts'),
        ])
        const tools = packageTools(await installSandbox(app))
        const folder = join(app.paths.cache, 'newest')
        return createProcessRuntime({
          folder: join(app.paths.data, 'processes'),
          sockets: join(app.paths.runtime, 'net'),
          packages: createPackageStore(join(app.paths.cache, 'packages'), {
            ...tools,
            newestVersion: rememberNewest(tools.newestVersion, { folder }),
          }),
          bubblewrap: () => rememberBubblewrap(pathOf(app), app.paths.runtime),
          path: pathOf(app),
        })
      },
    ],
  },
}
export default runtimeProcess
