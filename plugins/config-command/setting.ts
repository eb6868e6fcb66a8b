import type { App } from '../../src/app.ts'
import type { FlagTable, FlagValues } from '../../src/cli/flags.ts'

/** What one command about a setting was given, and the terminal it writes to. */
export interface SettingCall<F extends FlagTable> {
  readonly app: App
  /** Positional arguments in the order of the synopsis. */
  readonly args: readonly (string | undefined)[]
  readonly values: FlagValues<F>
  readonly print: (line: string) => void
  /** Prints the content of a file. */
  readonly printContent: (text: string) => void
  /** Reads standard input; undefined where it is a terminal. */
  readonly readPiped: () => Promise<string | undefined>
}

/** Getting, setting or unsetting one setting: what help says of it, and what it does. */
export interface SettingAction<F extends FlagTable = FlagTable> {
  readonly description: string
  readonly details?: string
  readonly examples?: readonly [description: string, command: string][]
  /** Positional arguments as help shows them, one word each; brackets make one optional. */
  readonly synopsis?: string
  readonly flags?: F
  run(call: SettingCall<F>): Promise<void>
}

/** One setting: each action becomes the command `config <action>-<name>`. */
export interface Setting {
  /** As in `config get-ca-cert` or `config otel get-endpoint`. */
  readonly name: string
  /** Words between `config` and the action. */
  readonly under?: readonly string[]
  readonly get?: SettingAction
  readonly set?: SettingAction
  readonly unset?: SettingAction
}

/** Keeps the types of the action's flags for its `run`. */
export const action = <F extends FlagTable>(what: SettingAction<F>): SettingAction =>
  what as unknown as SettingAction
