import { readFileSync } from 'node:fs'

/** Put in by the build: the text of each file in a `programs/` folder, by its path in the sources. */
declare const __KEELSON_PROGRAMS__: Readonly<Record<string, string>> | undefined

/**
 * Returns the text of a program that runs elsewhere: in a container, a build or a sandbox.
 *
 * `path` is its path in the sources. `values` replace `__NAME__` in the text. The build embeds the programs;
 * sources that run unbuilt read the file.
 */
export function programText(path: string, values: Readonly<Record<string, string>> = {}): string {
  const text =
    typeof __KEELSON_PROGRAMS__ === 'object'
      ? __KEELSON_PROGRAMS__[path]
      : readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  if (text === undefined) throw new Error(`the build has no program ${path}`)
  return Object.entries(values).reduce(
    (result, [name, value]) => result.replaceAll(`__${name}__`, value),
    text,
  )
}
