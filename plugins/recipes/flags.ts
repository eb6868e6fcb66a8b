import { type FlagOptions, flag } from '../../src/cli/flags.ts'
import type { RunFlags } from '../../src/plugin.ts'

/** Flags that shape how a package becomes an image. */
export const recipeFlags = {
  'build-with': flag.list('further requirement to install with the package (uvx only)', 'CONSTRAINT'),
  'ca-cert': flag.file('certificates (PEM) to trust while the image is built'),
  'allow-build-network': flag.boolean(
    'let install scripts of the package reach the package registries while the image is built',
  ),
  'allow-build-host': flag.list(
    'let install scripts of the package also reach this host while the image is built',
    'HOST',
  ),
  'runtime-image': flag.string('base image instead of the default one', { placeholder: 'IMAGE' }),
  'runtime-add-package': flag.list('system package to add to the image', 'PACKAGE'),
}

export const packageFlags: RunFlags = { title: 'Packages', of: ['run'], flags: recipeFlags }

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof recipeFlags> {}
}
