import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))

/**
 * A program of the tests with all that it imports, what it imports later in files of their own: it starts in
 * a tenth of the processor time. The files go when the test file has ended.
 */
export function bundled(program: URL): string {
  // As deep below the project as the sources, which look for files beside them.
  const folder = mkdtempSync(join(modules, '.keelson-test-'))
  chmodSync(folder, 0o755) // some tests run it as another user
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  execFileSync(join(modules, '.bin/esbuild'), [
    fileURLToPath(program),
    ...[
      '--bundle',
      '--splitting',
      '--format=esm',
      '--platform=node',
      '--target=node22',
      '--main-fields=module,main',
      '--log-level=error',
    ],
    `--banner:js=${REQUIRE}`,
    ...[`--outdir=${folder}`, '--out-extension:.js=.mjs'],
  ])
  return join(folder, `${basename(program.pathname, '.ts')}.mjs`)
}

/** For packages in CommonJS. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"
