import { messageOf } from '../../../src/errors.ts'
import type { StepResult } from './actions.ts'
import { toType } from './render-arguments.ts'
import { readTemplate } from './template/render.ts'
import { AbsentValue } from './template/tokens.ts'
import type { OutputProperty, Workflow } from './workflow.ts'

type Properties = Readonly<Record<string, OutputProperty>>

/** The result of a workflow: what its `output` says, or the output of its last step that has one. */
export function composeOutput(
  { output, steps }: Workflow,
  data: unknown,
  results: ReadonlyMap<string, StepResult>,
): unknown {
  if (!output) {
    const last = steps.findLast(({ id }) => results.get(id)?.output !== undefined)
    return (last && results.get(last.id)?.output) ?? {}
  }
  const composed = compose(output.properties, data)
  const absent = output.required?.find(name => !Object.hasOwn(composed, name))
  if (absent !== undefined) throw new Error(`the output "${absent}" has no value, and is required`)
  return composed
}

function compose(properties: Properties, data: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]) => {
      const value = valueOfProperty(name, property, data)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** Undefined where the template has no value, and there is no default. */
function valueOfProperty(
  name: string,
  { value, properties, ...property }: OutputProperty,
  data: unknown,
): unknown {
  if (properties) return compose(properties, data)
  try {
    return toType(readTemplate(value ?? '').render(data), property)
  } catch (error) {
    if (error instanceof AbsentValue) return property.default
    throw new Error(`output "${name}": ${messageOf(error)}`, { cause: error })
  }
}

/** The JSON Schema of the result; undefined where the workflow does not say it. */
export const outputSchemaOf = ({ output }: Workflow): object | undefined =>
  output && { ...objectSchema(output.properties), ...(output.required ? { required: output.required } : {}) }

const objectSchema = (properties: Properties): object => ({
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(properties).map(([name, { type, description, properties: inner }]) => [
      name,
      {
        ...(inner ? objectSchema(inner) : type === undefined ? {} : { type }),
        ...(description === undefined ? {} : { description }),
      },
    ]),
  ),
})
