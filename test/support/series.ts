/** Whether `npm run test:long` runs: the same tests with longer series. */
export const isLong = Boolean(process.env.KEELSON_TEST_LONG)

/** How long a series of kills, random inputs or repetitions is: `long` with `npm run test:long`. */
export const series = ({ usual, long }: { usual: number; long: number }): number => (isLong ? long : usual)
