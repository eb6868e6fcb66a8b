import { type BaseContext, Command } from 'clipanion'
import type { App } from '../app.ts'
import { failures } from '../errors.ts'
import { isYes } from '../lib/is-yes.ts'
import { printable, printableJson } from '../lib/printable.ts'
import type { WrittenFlag } from './argv.ts'
import { type Flag, type FlagTable, type FlagValues, flagsOfGroups, type NameKind } from './flags.ts'
import { fold } from './fold.ts'
import {
  type Column,
  formatTable,
  isTerminal,
  type Output,
  showsColours,
  toTerminal,
  widthOf,
} from './output.ts'
import { createProgress, type Progress } from './progress.ts'

/** What a command gets from its host. */
export interface CliContext extends BaseContext {
  /** Standard output for text, which is quicker than the stream if it is a file or a pipe. */
  readonly out: Output
  readonly app: App
  /** Aborts on the first interrupt. */
  readonly signal: AbortSignal
  /** Whether progress is shown with every line of engines and installers. */
  readonly verbose: boolean
  /** What stood behind `--`. */
  readonly passthrough: readonly string[]
}

/** A command as plugins list them: a concrete subclass of BaseCommand. */
export type CommandClass = (new () => BaseCommand) & Omit<typeof BaseCommand, 'prototype'>

/**
 * A command parses, calls one service method, prints.
 *
 * ```ts
 * const flags = { all: flag.boolean('also stopped ones', { short: 'a' }) }
 *
 * export class Stop extends BaseCommand {
 *   static override paths = [['stop']]
 *   static override usage = BaseCommand.Usage({ category: 'Workloads', description: 'stop workloads' })
 *   static override synopsis = '[NAME...]'
 *   static override flags = flags
 *   names = Option.Rest()                       // positional arguments are clipanion's
 *   override async execute() {
 *     const { all } = this.values(flags)
 *     const workloads = await this.app.service('workloads')
 *     await workloads.stop({ names: this.names, all })
 *   }
 * }
 * ```
 * A command without `usage` is hidden. Throw a Failure to fail; return a number for another exit code.
 */
export abstract class BaseCommand extends Command<CliContext> {
  static flags: FlagTable = {}
  /** What to do instead of a flag of docker or kubectl that is not taken here, by its name or letter. */
  static hints: Readonly<Record<string, string>> = {}
  /** What to do about an argument too many. Without it the error shows these arguments. */
  static surplus: string | undefined = undefined
  /** Positional arguments as help shows them. */
  static synopsis = ''
  /** What a shell may complete the first positional argument with. */
  static completes: NameKind | undefined = undefined
  /** Whether words behind `--` are kept apart (`this.context.passthrough`). */
  static passthrough = false
  /** The command whose flag groups from plugins (`provides.flags`) this command takes. */
  static sharesFlags: string | undefined = undefined
  /** The groups that they added; filled by the host. */
  static groups: readonly { title: string; flags: FlagTable }[] = []
  /** The flags on the command line; filled by the host. */
  written: readonly WrittenFlag[] = []

  protected get app(): App {
    return this.context.app
  }

  /** The values of a table's flags, parsed. Fails with `usage` naming the flag that is wrong. */
  protected values<T extends FlagTable>(table: T): FlagValues<T> {
    return Object.fromEntries(
      Object.entries(table).map(([name, spec]) => [name, this.#read(name, spec)]),
    ) as FlagValues<T>
  }

  /** The values of the flags that plugins added to this command. */
  protected groupValues(): FlagValues<FlagTable> {
    return this.values(flagsOfGroups((this.constructor as typeof BaseCommand).groups))
  }

  /** Names of the flags that were on the command line. */
  protected get given(): ReadonlySet<string> {
    return new Set(this.written.map(([name]) => name))
  }

  #read(name: string, spec: Flag<unknown>): unknown {
    const values = this.written.filter(([written]) => written === name).map(([, value]) => value)
    if (spec.kind === 'list' && values.length) return values.flatMap(text => spec.parse(String(text), name))
    const last = values.at(-1)
    if (last === undefined) return spec.fallback
    return typeof last === 'string' ? spec.parse(last, name) : last
  }

  /** Text for people, of which any part may come from strangers: nothing in it steers the terminal. */
  protected print(line: string): void {
    const { out } = this.context
    out.write(`${toTerminal(printable(line), out)}\n`)
  }

  /** The content of a file: byte for byte into a file or a pipe, made printable for a terminal. */
  protected printContent(text: string): void {
    const { out } = this.context
    out.write(isTerminal(out) ? printable(text) : text)
  }

  /** A line for the user, on standard error, so that piped output stays clean. */
  protected say(line: string): void {
    const { stderr } = this.context
    stderr.write(`${toTerminal(fold(printable(line), { width: widthOf(stderr) }), stderr)}\n`)
  }

  protected printJson(value: unknown): void {
    this.context.out.write(`${printableJson(JSON.stringify(value, null, 2))}\n`)
  }

  /** A table that fits the terminal, unless it is `wide`. */
  protected printTable<R>(columns: readonly Column<R>[], rows: readonly R[], { wide = false } = {}): void {
    const { out } = this.context
    const table = formatTable(columns, rows, {
      ...(wide ? {} : { most: widthOf(out) }),
      colours: showsColours(out),
    })
    out.write(toTerminal(table, out))
  }

  /** A list as JSON or as a table; `empty` stands for a table without rows. */
  protected printList<R>(
    rows: readonly R[],
    list: { readonly format: string; readonly columns: readonly Column<R>[]; readonly empty?: string },
  ): void {
    if (list.format === 'json') this.printJson(rows)
    else if (rows.length === 0 && list.empty !== undefined) this.print(list.empty)
    else this.printTable(list.columns, rows)
  }

  /** Progress of long work, on standard error. Call `done` before printing. */
  protected progress(): Progress {
    const { stderr, verbose } = this.context
    return createProgress(stderr, Date.now, { verbose })
  }

  /** Whether somebody can be asked. */
  protected get onTerminal(): boolean {
    return isTerminal(this.context.stdin)
  }

  /** Asks a yes-or-no question; the default is no. Without a terminal it fails and names the flag to give. */
  protected async confirm(question: string, flagName = 'yes'): Promise<boolean> {
    const { ask } = await import('./prompt.ts') // few commands ask, and readline takes time to load
    const answer = await ask(this.context, `${question} [y/N] `)
    if (answer === undefined) {
      throw failures.usage({
        text: `${question} There is no terminal to ask on.`,
        hint: `Add --${flagName} to agree.`,
      })
    }
    return isYes(answer)
  }

  /** A value read from standard input, or asked for without echo on a terminal. */
  protected async readSecret(question: string): Promise<string> {
    return (await import('./prompt.ts')).askSecret(this.context, question)
  }
}
