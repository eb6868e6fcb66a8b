/** Markup: what is put into it is escaped. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, character => ENTITIES[character] ?? '')

type Part = string | Html | readonly Html[]

/** Makes markup from a template; texts in it are escaped, for elements and for quoted attributes alike. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(strings.reduce((text, string, index) => text + markupOf(parts[index - 1] ?? '') + string))

function markupOf(part: Part): string {
  if (typeof part === 'string') return escaped(part)
  return part instanceof Html ? part.text : part.map(({ text }) => text).join('')
}
