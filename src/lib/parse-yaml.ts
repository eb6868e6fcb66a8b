import { type Document, parse, parseDocument } from 'yaml'

/**
 * Parses one YAML document (or JSON); a bomb of aliases is an error. Load this file when it is needed: an `import()` of the package
 * itself has no members in the built program, because the package is CommonJS there.
 */
export const parseYaml = (text: string): unknown => parse(text)

/** The same with the nodes of the document, which know where they stand in the text. Throws as `parseYaml` does. */
export function parseYamlNodes(text: string): { readonly value: unknown; readonly document: Document } {
  const document = parseDocument(text)
  const [error] = document.errors
  if (error) throw error
  return { value: document.toJS(), document }
}
