import { messageOf } from '../../../src/errors.ts'
import { parseDuration } from '../../../src/lib/duration.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import { list } from '../../../src/lib/schema.ts'
import { suggest } from '../../../src/lib/suggest.ts'
import { findErrors } from '../../../src/schema-check.ts'
import { readTemplate } from './template/render.ts'
import { LIMITS, type OutputProperty, type Step, type Workflow, workflowSchema } from './workflow.ts'

/** Reads the workflows of one endpoint. Fails with an error that says what is wrong, for people. */
export function readWorkflows(value: unknown): Workflow[] {
  const problem = findErrors(workflows, value) ?? workflowsProblem(value as Workflow[])
  if (problem !== undefined) throw new Error(problem)
  return value as Workflow[]
}

const workflows = list(workflowSchema)

/** Finds what is wrong with the workflows of one endpoint, for people; undefined: nothing. */
export function workflowsProblem(workflows: readonly Workflow[]): string | undefined {
  const names = new Set<string>()
  for (const workflow of workflows) {
    const { name } = workflow
    if (names.has(name)) return `two are called "${name}"`
    names.add(name)
    const problem = workflowProblem(workflow)
    if (problem !== undefined) return `"${name}": ${problem}`
  }
  return undefined
}

/** Finds what is wrong with a workflow that the schema accepts, for people; undefined: nothing. */
export function workflowProblem(workflow: Workflow): string | undefined {
  try {
    checkWorkflow(workflow)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

function checkWorkflow({ steps, timeout, parameters, output }: Workflow): void {
  checkDuration('timeout', timeout, LIMITS.workflowMs)
  if (parameters && parameters.type !== 'object') fail('the type of "parameters" is not "object"')
  if (steps.length === 0) fail('it has no steps')
  if (steps.length > LIMITS.steps) fail(`it has more than ${LIMITS.steps} steps`)
  const ids = new Set<string>()
  for (const step of steps) {
    if (ids.has(step.id)) fail(`two steps are called "${step.id}"`)
    ids.add(step.id)
    within(`step "${step.id}"`, () => checkStep(step))
  }
  checkOrder(steps, ids)
  for (const [member, property] of Object.entries(output?.properties ?? {})) {
    within(`output "${member}"`, () => checkOutput(property))
  }
  for (const member of output?.required ?? []) {
    if (!Object.hasOwn(output?.properties ?? {}, member)) fail(`output has no "${member}", which is required`)
  }
}

function fail(problem: string): never {
  throw new Error(problem)
}

function within(place: string, check: () => void): void {
  try {
    check()
  } catch (error) {
    fail(`${place}: ${messageOf(error)}`)
  }
}

function checkStep(step: Step): void {
  const { type = 'tool', condition } = step
  if (condition !== undefined) readTemplate(condition)
  if (type === 'tool') checkCall(step)
  else if (type === 'elicitation') checkQuestion(step)
  else checkForEach(step)
}

function checkQuestion({ message, schema, timeout }: Step): void {
  if (message === undefined || schema === undefined) fail('an elicitation has "message" and "schema"')
  readTemplate(message)
  checkDuration('timeout', timeout, LIMITS.answerMs)
}

function checkForEach({ collection, itemVar, timeout, step }: Step): void {
  if (collection === undefined || !step) fail('a forEach has "collection" and "step"')
  readTemplate(collection)
  if (itemVar !== undefined && (!/^[A-Za-z_]\w*$/.test(itemVar) || itemVar === 'index')) {
    fail(`"itemVar" is no name, or "index": ${itemVar}`)
  }
  checkDuration('timeout', timeout, LIMITS.workflowMs)
  checkCall(step)
}

function checkCall({
  tool,
  onError,
  timeout,
  ...step
}: Pick<Step, 'tool' | 'arguments' | 'onError' | 'timeout'>): void {
  if (tool === undefined) fail('it has no "tool"')
  if (onError?.retryCount !== undefined && onError.action !== 'retry') fail('"retryCount" without "retry"')
  if (onError?.action === 'retry' && onError.retryCount === undefined) fail('"retry" without "retryCount"')
  checkDuration('retryDelay', onError?.retryDelay, LIMITS.stepMs)
  checkDuration('timeout', timeout, LIMITS.stepMs)
  checkTemplates(step.arguments)
}

function checkTemplates(value: unknown): void {
  if (typeof value === 'string') readTemplate(value)
  else if (Array.isArray(value)) value.forEach(checkTemplates)
  else if (isObject(value)) Object.values(value).forEach(checkTemplates)
}

function checkOutput({ value, properties }: OutputProperty): void {
  if ((value === undefined) === (properties === undefined)) fail('it has either "value" or "properties"')
  if (value !== undefined) readTemplate(value)
  for (const [name, property] of Object.entries(properties ?? {})) within(name, () => checkOutput(property))
}

function checkDuration(member: string, value: string | undefined, most: number): void {
  if (value === undefined) return
  const ms = parseDuration(value)
  if (ms === undefined || ms === 0) fail(`"${member}" is no duration such as 30s: ${value}`)
  if (ms > most) fail(`"${member}" is more than ${most / 60_000} minutes`)
}

/** Every step depends on steps that are there, and never on itself. */
function checkOrder(steps: readonly Step[], ids: ReadonlySet<string>): void {
  for (const { id, dependsOn = [] } of steps) {
    const absent = dependsOn.find(one => !ids.has(one))
    if (absent === undefined) continue
    const near = suggest(absent, [...ids])
    fail(`step "${id}" depends on "${absent}", which is not there${near ? `; did you mean "${near}"?` : ''}`)
  }
  const done = new Set<string>()
  for (let left = steps; left.length > 0; ) {
    const ready = left.filter(({ dependsOn = [] }) => dependsOn.every(one => done.has(one)))
    if (ready.length === 0)
      fail(`the steps ${left.map(({ id }) => `"${id}"`).join(', ')} wait for each other`)
    for (const { id } of ready) done.add(id)
    left = left.filter(({ id }) => !done.has(id))
  }
}
