import { fileURLToPath } from 'node:url'

/** Arguments of esbuild that make the program of the helper one file, for every Node that base images have. */
export const bundleArguments = (entry: string): string[] => [
  entry,
  '--bundle',
  '--format=esm',
  '--platform=node',
  '--target=node20',
  '--minify-whitespace',
  '--minify-syntax',
  '--log-level=error',
]

declare const __KEELSON_EGRESS_HELPER__: string | undefined

/** The program of the helper as text. The build has put it in; sources that run unbuilt bundle it now. */
export async function loadHelperProgram(): Promise<string> {
  if (typeof __KEELSON_EGRESS_HELPER__ === 'string') return __KEELSON_EGRESS_HELPER__
  const { execa } = await import('execa')
  const entry = fileURLToPath(new URL('helper-main.ts', import.meta.url))
  const { stdout } = await execa('esbuild', bundleArguments(entry), {
    preferLocal: true,
    localDir: new URL('.', import.meta.url),
  })
  return stdout
}
