import { mkdir, symlink } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { findPaths } from '../../src/paths.ts'
import type { Home } from './home.ts'

/** Of the user that runs the tests, so that the next run finds them as well. */
const SHARED = join(homedir(), '.cache/keelson-test/tools')

/**
 * Lets npm, pip, uv and Go find what they fetched and compiled in other homes: Go alone compiles its standard
 * library in each new cache, for 20 seconds of the processor. Their entries are named after contents or public
 * addresses and can be used by many at once. Not for homes with a registry of the test's own.
 */
export async function shareToolCaches({ env }: Pick<Home, 'env'>): Promise<void> {
  await mkdir(SHARED, { recursive: true, mode: 0o700 })
  const tools = join(findPaths(env).cache, 'tools')
  await mkdir(dirname(tools), { recursive: true, mode: 0o700 })
  await symlink(SHARED, tools)
}
