import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * The main file of the program that tests run: what `npm test` has built, as users get it; without
 * `KEELSON_TEST_MAIN` the sources, so that a single test file needs no build. A start of the built program
 * costs a seventh of the processor time, and the tests start it more than a thousand times.
 */
export const main: string =
  process.env.KEELSON_TEST_MAIN ?? new URL('../../src/main.ts', import.meta.url).pathname

/** Lets the homes of tests share what Node keeps of the compiled program; each is new, and would compile it again. */
export const COMPILED: Readonly<Record<string, string>> = process.env.KEELSON_TEST_MAIN
  ? { NODE_COMPILE_CACHE: join(tmpdir(), 'keelson-test-compiled') }
  : {}
