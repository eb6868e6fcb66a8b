import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))

/**
 * A program of the tests as one file with all that it imports: it starts in a fifth of the processor time.
 * The file goes when the test file has ended.
 */
export function bundled(program: URL): string {
  // As deep below the project as the sources, which look for files beside them.
  const folder = mkdtempSync(join(modules, '.keelson-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, `${basename(program.pathname, '.ts')}.mjs`)
  execFileSync(join(modules, '.bin/esbuild'), [
    fileURLToPath(program),
    ...[
      '--bundle',
      '--format=esm',
      '--platform=node',
      '--target=node22',
      '--main-fields=module,main',
      '--log-level=error',
    ],
    `--banner:js=${REQUIRE}`,
    `--outfile=${path}`,
  ])
  return path
}

/** For packages in CommonJS. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"
