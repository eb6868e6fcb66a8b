/** Arguments of esbuild that make the program of the page one file. */
export const pageArguments = (entry: string): string[] => [
  entry,
  '--bundle',
  '--format=esm',
  '--target=es2024',
  '--jsx=automatic',
  '--jsx-import-source=preact',
  '--minify',
  '--legal-comments=none',
  '--log-level=error',
]
