import type { Scheme, WaitOptions } from '../../../src/contracts/runtime.ts'
import { newestVersion } from '../../../src/lib/newest-version.ts'
import { buildLocalGo, installGo } from './golang.ts'
import type { WithInstallSandbox } from './install-sandbox.ts'
import type { PinnedPackage } from './installed-package.ts'
import { type Installed, installNpm } from './npm.ts'
import { createNpmInstall } from './npm-install.ts'
import { installPython } from './python.ts'

/** What asks registries and installs. */
export interface PackageTools {
  readonly newestVersion: typeof newestVersion
  readonly installers: Readonly<
    Record<Scheme, (pinned: PinnedPackage, folder: string, wait: WaitOptions) => Promise<Installed>>
  >
  /** Builds local Go code into a file of a folder. */
  readonly buildLocalGo: (
    path: string,
    output: { readonly folder: string; readonly file: string },
    wait: WaitOptions,
  ) => Promise<void>
}

/** The ecosystems' own tools, in a sandbox. */
export function packageTools(withSandbox: WithInstallSandbox): PackageTools {
  const npmInstall = createNpmInstall(withSandbox)
  return {
    newestVersion,
    installers: {
      npx: (...install) => installNpm(npmInstall, ...install),
      uvx: (...install) => installPython(withSandbox, ...install),
      go: (...install) => installGo(withSandbox, ...install),
    },
    buildLocalGo: (...build) => buildLocalGo(withSandbox, ...build),
  }
}
