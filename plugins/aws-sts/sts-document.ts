export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

/** The text of the first XML element of that name; STS writes no attributes, entities or prefixes in those. */
export const textOfElement = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<&]*)</${name}>`).exec(xml)?.[1]?.trim()
