/** What a field of a command holds until it gets its argument. */
class Argument {
  readonly isRest: boolean
  /** How many arguments there have to be. */
  readonly least: number
  constructor(isRest: boolean, least: number) {
    this.isRest = isRest
    this.least = least
  }
}

function oneArgument(options?: { required?: true }): string
function oneArgument(options: { required: boolean }): string | undefined
function oneArgument({ required = true }: { required?: boolean } = {}): unknown {
  return new Argument(false, required ? 1 : 0)
}

/**
 * Declares positional arguments: fields of a command, in the order in which they are written. Optional ones come after
 * those that are required, and `Rest`, which takes all others, is the last.
 */
export const Option = {
  String: oneArgument,
  /** `required` is how many there have to be. */
  Rest: ({ required = 0 } = {}): string[] => new Argument(true, required) as never,
}

/** Puts the words of a command line into the fields of a command. Returns whether their number is right. */
export function fillArguments(command: object, words: readonly string[]): boolean {
  let at = 0
  for (const [field, argument] of Object.entries(command)) {
    if (!(argument instanceof Argument)) continue
    if (words.length - at < argument.least) return false
    Reflect.set(command, field, argument.isRest ? words.slice(at) : words[at])
    at = argument.isRest ? words.length : at + 1
  }
  return at >= words.length
}
