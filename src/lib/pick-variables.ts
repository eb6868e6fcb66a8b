/** Returns the variables that are set and whose names pass. */
export const pickVariables = (
  env: Readonly<Record<string, string | undefined>>,
  passes: (name: string) => boolean,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value && passes(name) ? [[name, value]] : [])),
  )
