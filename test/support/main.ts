/**
 * The main file of the program that tests run: what `npm test` has built, as users get it; without
 * `KEELSON_TEST_MAIN` the sources, so that a single test file needs no build. A start of the built program
 * costs a seventh of the processor time, and the tests start it more than a thousand times.
 */
export const main: string =
  process.env.KEELSON_TEST_MAIN ?? new URL('../../src/main.ts', import.meta.url).pathname
