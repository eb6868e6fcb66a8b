import {
  anything,
  bool,
  closed,
  filled,
  integer,
  list,
  type Members,
  map,
  type ObjectOf,
  object,
  oneOf,
  optional,
  type Schema,
  type TypeOf,
  text,
  texts,
} from '../../../src/lib/schema.ts'

/** What limits a workflow. */
export const LIMITS = {
  steps: 100,
  retries: 10,
  parallel: 10,
  parallelItems: 50,
  items: 1000,
  outputDepth: 10,
  /** Milliseconds. */
  workflowMs: 30 * 60_000,
  stepMs: 5 * 60_000,
  answerMs: 10 * 60_000,
} as const

const upTo = (maximum: number): Schema<number> => ({ ...integer, minimum: 1, maximum })

const onError = object(
  {
    action: oneOf(['abort', 'continue', 'retry']),
    retryCount: optional(upTo(LIMITS.retries)),
    /** A duration; doubled at each further try. */
    retryDelay: optional(text),
  },
  closed,
)
const onRefusal = object({ action: oneOf(['abort', 'continue', 'skip_remaining']) }, closed)

/** What all steps have, also the one that `forEach` repeats. */
const common = {
  /** The tool as clients know it, or `SERVER.TOOL`. */
  tool: optional(filled),
  /** Texts in it are templates. */
  arguments: optional(map(anything)),
  onError: optional(onError),
  /** A duration. */
  timeout: optional(text),
} satisfies Members

const inner = object({ id: optional(filled), type: optional(oneOf(['tool'])), ...common }, closed)

const step = object(
  {
    id: filled,
    /** Absent: `tool`. */
    type: optional(oneOf(['tool', 'elicitation', 'forEach'])),
    ...common,
    /** A template that says `true` or `false`. */
    condition: optional(text),
    dependsOn: optional(texts),
    /** Its output where it was skipped. */
    defaultResults: optional(map(anything)),
    /** Of an elicitation: a template, and the JSON Schema of what is asked for. */
    message: optional(text),
    schema: optional(map(anything)),
    onDecline: optional(onRefusal),
    onCancel: optional(onRefusal),
    /** Of `forEach`: a template that says a JSON list. */
    collection: optional(text),
    /** The name of the current element; absent: `item`. */
    itemVar: optional(filled),
    maxParallel: optional(upTo(LIMITS.parallelItems)),
    maxIterations: optional(upTo(LIMITS.items)),
    step: optional(inner),
  },
  closed,
)

/** A member of the result. */
export interface OutputProperty {
  readonly type?: string
  readonly description?: string
  /** A template. */
  readonly value?: string
  readonly properties?: Readonly<Record<string, OutputProperty>>
  /** What counts where the template has no value. */
  readonly default?: unknown
}

const property = (depth: number): Schema<OutputProperty> =>
  object(
    {
      type: optional(text),
      description: optional(text),
      value: optional(text),
      default: optional(anything),
      ...(depth === 0 ? {} : { properties: optional(map(property(depth - 1))) }),
    },
    closed,
  ) as Schema<OutputProperty>

const members = {
  name: {
    type: 'string',
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    description: '1 to 64 letters, digits, "_" and "-"',
  } as Schema<string>,
  description: filled,
  /** The JSON Schema of its arguments. */
  parameters: optional(map(anything)),
  timeout: optional(text),
  steps: list(step),
  output: optional(
    object({ properties: map(property(LIMITS.outputDepth)), required: optional(texts) }, closed),
  ),
  annotations: optional(
    object({
      title: optional(text),
      readOnlyHint: optional(bool),
      destructiveHint: optional(bool),
      idempotentHint: optional(bool),
      openWorldHint: optional(bool),
    }),
  ),
}

/** A tool that is made of calls of other tools; the names of its members are those of ToolHive’s file. */
export const workflowSchema = object(members, closed)

export type Workflow = ObjectOf<typeof members>
export type Step = TypeOf<typeof step>
export type InnerStep = TypeOf<typeof inner>
