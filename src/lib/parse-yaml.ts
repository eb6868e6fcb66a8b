import { parse } from 'yaml'

/**
 * Parses one YAML document (or JSON); a bomb of aliases is an error. Load this file when it is needed: an `import()` of the package
 * itself has no members in the built program, because the package is CommonJS there.
 */
export const parseYaml = (text: string): unknown => parse(text)
