import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { failures } from '../../../plugins/runtime-process/failures.ts'
import type { ProcessRuntimeOptions } from '../../../plugins/runtime-process/process-runtime.ts'

/** Packages for which nothing is installed: each image stands for a command of this machine. */
export function fixedPackages(
  home: string,
  commands: Readonly<Record<string, readonly string[]>> = { 'npx://run-arguments@1.0.0': ['/usr/bin/env'] },
): ProcessRuntimeOptions['packages'] {
  return {
    install: async request => ({ image: `${request.scheme}://${request.package}`, version: '1.0.0' }),
    async resolve(image) {
      const command = commands[image]
      if (!command) throw failures.process_not_installed({ image })
      const folder = join(home, 'package')
      await mkdir(folder, { recursive: true })
      return { folder, command, needs: [] }
    },
  }
}
