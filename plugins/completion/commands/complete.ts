import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { complete } from '../complete-words.ts'

const flags = {
  'new-word': flag.boolean('the cursor stands behind a space: PowerShell cannot pass an empty word'),
  descriptions: flag.boolean('print what each word means', { fallback: true }),
}

/**
 * Hidden; called by the completion scripts as `__complete -- WORDS...`, the last word being the one at
 * the cursor. Prints a line for each candidate (the word, a tab, what it means) and last
 * `:none`, `:file` or `:directory`: what the shell itself should add.
 */
export class Complete extends BaseCommand {
  static override paths = [['__complete']]
  static override passthrough = true
  static override flags = flags

  override async execute(): Promise<void> {
    const { 'new-word': newWord, descriptions } = this.values(flags)
    const words = newWord ? [...this.context.passthrough, ''] : this.context.passthrough
    const { candidates, files } = await complete(this.app, words)
    for (const { value, description } of candidates)
      this.print(descriptions && description ? `${value}\t${description}` : value)
    this.print(`:${files}`)
  }
}
