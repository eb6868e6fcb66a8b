interface Operator {
  readonly first: string
  readonly between: string
  readonly isNamed?: true
  /** Behind the name of an empty value. */
  readonly ifEmpty?: string
  readonly allowsReserved?: true
}

const SIMPLE: Operator = { first: '', between: ',' }

/** How each operator of RFC 6570 writes its variables (appendix A). */
const OPERATORS: Readonly<Record<string, Operator>> = {
  '+': { first: '', between: ',', allowsReserved: true },
  '#': { first: '#', between: ',', allowsReserved: true },
  '.': { first: '.', between: '.' },
  '/': { first: '/', between: '/' },
  ';': { first: ';', between: ';', isNamed: true },
  '?': { first: '?', between: '&', isNamed: true, ifEmpty: '=' },
  '&': { first: '&', between: '&', isNamed: true, ifEmpty: '=' },
}

const EXPRESSION = /\{([+#./;?&]?)([^{}]*)\}/g

/** The names of the variables in braces. A prefix (`:3`) or `*` behind a name is no part of it. */
const namesIn = (text: string): string[] =>
  text
    .split(',')
    .map(name => name.replace(/(?::\d+|\*)$/, ''))
    .filter(Boolean)

/** The variables of a URI template (RFC 6570), each once. */
export const variablesOf = (template: string): string[] => [
  ...new Set([...template.matchAll(EXPRESSION)].flatMap(([, , names = '']) => namesIn(names))),
]

/** The URI that a template stands for. Values are texts, as in MCP; a variable without one is left out. */
export const expandTemplate = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replace(EXPRESSION, (_, operator: string, names: string) => {
    const { first, between, isNamed, ifEmpty = '', allowsReserved } = OPERATORS[operator] ?? SIMPLE
    const encode = allowsReserved ? encodeURI : encodeURIComponent
    const parts = namesIn(names)
      .filter(name => Object.hasOwn(values, name))
      .map(name => {
        const value = encode(values[name] ?? '')
        return isNamed ? `${name}${value ? `=${value}` : ifEmpty}` : value
      })
    return parts.length > 0 ? first + parts.join(between) : ''
  })
