/** What one expected error means, in one row of a plugin's table. */
export interface FailureRow<D> {
  /** HTTP status of the management API (RFC 9110). */
  readonly status: number
  readonly text: (details: D) => string
  /** What to do next: a sentence, or one made from the details. */
  readonly hint?: string | ((details: D) => string | undefined)
  /** Exit code of the command line: 1, or 2 for wrong usage. */
  readonly exit?: 1 | 2
  /** Further members of the JSON response over HTTP, for programs: for example what to ask the user for. */
  readonly extra?: (details: D) => Readonly<Record<string, unknown>>
}

/** An error we expect: a stable code, a text for people, a hint. Anything else that is thrown is a bug. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: string
  readonly status: number
  readonly exit: 1 | 2
  readonly hint: string | undefined
  readonly details: unknown
  readonly extra: Readonly<Record<string, unknown>> | undefined

  constructor(
    code: string,
    facts: {
      text: string
      status: number
      exit?: 1 | 2 | undefined
      hint?: string | undefined
      details?: unknown
      extra?: Readonly<Record<string, unknown>> | undefined
    },
    options?: { cause?: unknown },
  ) {
    super(facts.text, options)
    this.code = code
    this.status = facts.status
    this.exit = facts.exit ?? 1
    this.hint = facts.hint
    this.details = facts.details
    this.extra = facts.extra
  }
}

/** The failures of one plugin: `throw failures.group_exists({ name })`. */
export type Failures<T extends Record<string, { text: (...args: never[]) => string }>> = {
  readonly [C in keyof T]: ((
    ...args: Parameters<T[C]['text']> extends [infer D]
      ? [details: D, options?: { cause?: unknown }]
      : [details?: undefined, options?: { cause?: unknown }]
  ) => Failure) & { readonly row: T[C] }
}

// biome-ignore lint/suspicious/noExplicitAny: a table mixes rows of different details; each row keeps its own type
export function defineFailures<const T extends Record<string, FailureRow<any>>>(table: T): Failures<T> {
  const make = (code: string, row: FailureRow<unknown>) =>
    Object.assign(
      (details?: unknown, options?: { cause?: unknown }) =>
        new Failure(
          code,
          {
            text: row.text(details),
            status: row.status,
            exit: row.exit,
            hint: typeof row.hint === 'function' ? row.hint(details) : row.hint,
            details,
            extra: row.extra?.(details),
          },
          options,
        ),
      { row },
    )
  return Object.fromEntries(
    Object.entries(table).map(([code, row]) => [code, make(code, row)]),
  ) as unknown as Failures<T>
}

export const isFailure = (error: unknown, code?: string): error is Failure =>
  error instanceof Failure && (code === undefined || error.code === code)

/** The text of anything thrown, without its stack. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Failures of the core itself. */
export const failures = defineFailures({
  usage: {
    status: 400,
    exit: 2,
    text: (d: { text: string; hint?: string | undefined }) => d.text,
    hint: d => d.hint,
  },
  invalid_file: {
    status: 400,
    text: (d: { path: string; problem: string }) => `${d.path} is not valid: ${d.problem}`,
  },
  file_missing: {
    status: 404,
    text: (d: { path: string; what: string }) => `${d.what} ${d.path} does not exist.`,
  },
  locked: {
    status: 503,
    text: (d: { path: string; seconds: number }) =>
      `Another keelson process has held ${d.path} for ${d.seconds} seconds.`,
    hint: 'Try again when it has finished.',
  },
  file_unreadable: {
    status: 400,
    text: (d: { path: string; what: string; problem: string }) =>
      `${d.what} ${d.path} cannot be read: ${d.problem}`,
  },
  file_unwritable: {
    status: 400,
    text: (d: { path: string; problem: string }) => `${d.path} cannot be written: ${d.problem}`,
  },
  folder_unusable: {
    status: 500,
    text: (d: { path: string; home: string; problem: string }) =>
      `keelson cannot use ${d.path}: ${d.problem}`,
    hint: d =>
      `HOME is ${d.home}. Correct it, or the folder; \`keelson doctor\` checks all folders of keelson.`,
  },
  folder_not_private: {
    status: 500,
    text: (d: { path: string; problem: string }) => `The folder ${d.path} is not used: ${d.problem}.`,
    hint: 'It must be yours alone. Look at what is in it, then remove it, or set XDG_RUNTIME_DIR to a folder of your own.',
  },
  plugin_broken: {
    status: 500,
    text: (d: { plugin: string; problem: string }) =>
      `The plugin "${d.plugin}" cannot be loaded: ${d.problem}`,
    hint: d => `Remove it with \`keelson plugin remove ${d.plugin}\`, or start with --no-plugins.`,
  },
  service_missing: {
    status: 501,
    text: (d: { service: string }) => `No plugin here provides "${d.service}".`,
  },
})
