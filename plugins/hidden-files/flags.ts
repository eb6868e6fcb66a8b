import { type FlagOptions, type FlagValues, flag } from '../../src/cli/flags.ts'
import type { RunFlags } from '../../src/plugin.ts'

const table = {
  'ignore-globally': flag.boolean('hide the files that the ignore file in the configuration folder names', {
    fallback: true,
  }),
  'print-resolved-overlays': flag.boolean('show which paths inside the container are hidden'),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof table> {}
}

/** The flags of `run` about hidden paths. */
export const hiddenFilesFlags: RunFlags = {
  title: 'Hidden files',
  of: ['run'],
  flags: table,
  apply(values: FlagValues<typeof table>, config) {
    config.ignore_config = {
      loadGlobal: values['ignore-globally'],
      printOverlays: values['print-resolved-overlays'],
    }
  },
}
