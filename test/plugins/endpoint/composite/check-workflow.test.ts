import { expect, test } from 'vitest'
import { workflowProblem } from '../../../../plugins/endpoint/composite/check-workflow.ts'
import { type Workflow, workflowSchema } from '../../../../plugins/endpoint/composite/workflow.ts'
import { findErrors } from '../../../../src/schema-check.ts'

const good: Workflow = {
  name: 'report',
  description: 'd',
  steps: [
    { id: 'a', tool: 'find' },
    {
      id: 'b',
      tool: 'read',
      dependsOn: ['a'],
      onError: { action: 'retry', retryCount: 2, retryDelay: '2s' },
    },
  ],
}
const call = good.steps[0]

test('a workflow that can run has no problem', () => {
  expect(findErrors(workflowSchema, good)).toBeUndefined()
  expect(workflowProblem(good)).toBeUndefined()
})

test.each<[string, object]>([
  ['it has no steps', { steps: [] }],
  [
    'more than 100 steps',
    { steps: Array.from({ length: 101 }, (_, index) => ({ id: `s${index}`, tool: 't' })) },
  ],
  ['two steps are called "a"', { steps: [call, call] }],
  [
    'step "a" depends on "step1", which is not there; did you mean "step"?',
    {
      steps: [
        { ...call, dependsOn: ['step1'] },
        { id: 'step', tool: 't' },
      ],
    },
  ],
  [
    'the steps "a", "b" wait for each other',
    {
      steps: [
        { ...call, dependsOn: ['b'] },
        { id: 'b', tool: 't', dependsOn: ['a'] },
      ],
    },
  ],
  ['step "a": it has no "tool"', { steps: [{ id: 'a' }] }],
  ['step "a": there is no function "nope"', { steps: [{ ...call, arguments: { x: ['{{nope}}'] } }] }],
  [
    'step "a": an elicitation has "message" and "schema"',
    { steps: [{ id: 'a', type: 'elicitation', message: 'm' }] },
  ],
  [
    'step "a": a forEach has "collection" and "step"',
    { steps: [{ id: 'a', type: 'forEach', collection: '[]' }] },
  ],
  ['step "a": it has no "tool"', { steps: [{ id: 'a', type: 'forEach', collection: '[]', step: {} }] }],
  [
    '"itemVar" is no name, or "index"',
    { steps: [{ id: 'a', type: 'forEach', collection: '[]', itemVar: 'index', step: call }] },
  ],
  ['"retry" without "retryCount"', { steps: [{ ...call, onError: { action: 'retry' } }] }],
  ['"timeout" is no duration such as 30s: soon', { timeout: 'soon' }],
  ['"timeout" is more than 30 minutes', { timeout: '31m' }],
  ['"timeout" is more than 5 minutes', { steps: [{ ...call, timeout: '6m' }] }],
  ['the type of "parameters" is not "object"', { parameters: { type: 'array' } }],
  ['output "x": it has either "value" or "properties"', { output: { properties: { x: {} } } }],
  [
    'output has no "y", which is required',
    { output: { properties: { x: { value: '1' } }, required: ['y'] } },
  ],
])('%s', (problem, change) => {
  expect(workflowProblem({ ...good, ...change })).toContain(problem)
})

test.each([
  ['a name that is none', { ...good, name: 'a b' }],
  ['a member that there is not', { ...good, stepz: [] }],
  ['an action that there is not', { ...good, steps: [{ ...call, onError: { action: 'ignore' } }] }],
  [
    'a forEach within a forEach',
    { ...good, steps: [{ id: 'a', type: 'forEach', step: { type: 'forEach', tool: 't' } }] },
  ],
])('the schema refuses %s', (_, workflow) => {
  expect(findErrors(workflowSchema, workflow)).toBeDefined()
})
