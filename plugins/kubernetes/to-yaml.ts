import { Document, isScalar, visit } from 'yaml'

/** What no reader of YAML 1.1 or 1.2 takes for a number, a date or syntax. Words such as `yes` are quoted by the library. */
const PLAIN = /^[A-Za-z/][\w./@+-]*(?::[\w./@+-]+)*$/
/** Lines of printable characters, which a block holds as they are. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
const LINES = /^[^\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]+\n$/
/** Readers of YAML 1.1 take some of these for line breaks, and refuse others, when they are not escaped. */
const ESCAPED = /[\u007f-\u009f\u2028\u2029\ufeff]/g

/**
 * YAML documents with sorted keys: the same objects are the same text.
 *
 * Kubernetes reads YAML 1.1, where `yes`, `1:30` and `0o7` are not strings, so every string that could be taken for
 * something else is quoted. Load this file when it is needed, as `src/lib/parse-yaml.ts` says.
 */
export const toYaml = (objects: readonly object[]): string => objects.map(toDocument).join('---\n')

function toDocument(object: object): string {
  const document = new Document(object, {
    version: '1.1',
    sortMapEntries: true,
    aliasDuplicateObjects: false,
  })
  visit(document, {
    Scalar(_, node) {
      if (!isScalar(node) || typeof node.value !== 'string') return
      if (!PLAIN.test(node.value) && !LINES.test(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  const text = document.toString({ lineWidth: 0 })
  return text.replace(ESCAPED, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
