import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Actions, Answer, ToolDefinition } from '../../../../plugins/endpoint/composite/actions.ts'
import { runWorkflow } from '../../../../plugins/endpoint/composite/run-workflow.ts'
import type { ToolResult } from '../../../../plugins/endpoint/composite/tool-result.ts'
import type { Step, Workflow } from '../../../../plugins/endpoint/composite/workflow.ts'

type Tool = (args: Record<string, unknown>, signal: AbortSignal) => ToolResult | Promise<ToolResult>

/** Runs a workflow over tools that are functions, and notes which were called. */
async function run(
  workflow: Omit<Workflow, 'name' | 'description'>,
  world: {
    tools?: Readonly<Record<string, Tool>>
    definitions?: Readonly<Record<string, ToolDefinition>>
    answer?: Answer
    params?: unknown
    signal?: AbortSignal
  } = {},
) {
  const calls: { tool: string; args: unknown }[] = []
  const questions: { message: string; schema: unknown }[] = []
  const statuses: string[] = []
  const actions: Actions = {
    async call(tool, args, signal) {
      calls.push({ tool, args })
      const found = world.tools?.[tool]
      if (!found) throw new Error(`no server has a tool "${tool}"`)
      return found(args as Record<string, unknown>, signal)
    },
    describe: async tool => world.definitions?.[tool],
    async ask(message, schema) {
      questions.push({ message, schema })
      return world.answer ?? { action: 'accept', content: {} }
    },
  }
  const output = runWorkflow(
    { name: 'w', description: 'd', ...workflow },
    {
      params: world.params ?? {},
      actions,
      onStep: (_, step, { status }) => statuses.push(`${step.id} ${status}`),
      signal: world.signal ?? new AbortController().signal,
    },
  )
  return { output: await output.catch((error: Error) => error.message), calls, questions, statuses }
}

const says = (text: string): ToolResult => ({ content: [{ type: 'text', text }] })
const fails = (text: string): ToolResult => ({ ...says(text), isError: true })
const never: Tool = (_, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

test('a step gets what another one has found, with the types that the tool wants', async () => {
  const { output, calls } = await run(
    {
      steps: [
        { id: 'find', tool: 'find', arguments: { query: '{{.params.q}}' } },
        {
          id: 'read',
          tool: 'read',
          dependsOn: ['find'],
          arguments: { id: '{{.steps.find.output.id}}', note: 'no {{.steps.find.output.id}}', plain: 5 },
        },
      ],
    },
    {
      params: { q: 'x' },
      tools: { find: () => ({ structuredContent: { id: 7 } }), read: () => says('text of 7') },
      definitions: {
        read: { inputSchema: { properties: { id: { type: 'integer' }, note: { type: 'string' } } } },
      },
    },
  )
  expect(calls).toEqual([
    { tool: 'find', args: { query: 'x' } },
    { tool: 'read', args: { id: 7, note: 'no 7', plain: 5 } },
  ])
  expect(output).toEqual({ text: 'text of 7' })
})

test('steps run at the same time, each as soon as those are done that it depends on', async () => {
  const order: string[] = []
  const tool =
    (name: string, ms: number): Tool =>
    async () => {
      order.push(`${name} begins`)
      await delay(ms)
      order.push(`${name} ends`)
      return says(name)
    }
  await run(
    {
      steps: [
        { id: 'slow', tool: 'slow' },
        { id: 'quick', tool: 'quick' },
        { id: 'next', tool: 'next', dependsOn: ['quick'] },
      ],
    },
    { tools: { slow: tool('slow', 500), quick: tool('quick', 10), next: tool('next', 10) } },
  )
  expect(order).toEqual([
    'slow begins',
    'quick begins',
    'quick ends',
    'next begins',
    'next ends',
    'slow ends',
  ])
})

describe('a step that fails', () => {
  const after: Step = { id: 'after', tool: 'ok', dependsOn: ['bad'] }
  const tools = { bad: () => fails('out of order'), ok: () => says('ok'), never }

  test('ends the workflow, and cancels what runs', async () => {
    const { output, calls } = await run(
      { steps: [{ id: 'long', tool: 'never' }, { id: 'bad', tool: 'bad' }, after] },
      { tools },
    )
    expect(output).toBe('step "bad": out of order')
    expect(calls.map(({ tool }) => tool)).toEqual(['never', 'bad'])
  })

  test('lets the others go on, if the workflow says so', async () => {
    const bad: Step = { id: 'bad', tool: 'bad', onError: { action: 'continue' } }
    const done = await run({ steps: [bad, after] }, { tools })
    expect(done.statuses).toEqual(['bad failed', 'after completed'])
    expect(done.output).toEqual({ text: 'ok' })
  })

  const retry: Step = {
    id: 'bad',
    tool: 'flaky',
    onError: { action: 'retry', retryCount: 3, retryDelay: '1ms' },
  }
  const flaky = () => {
    let tries = 0
    return () => (++tries < 3 ? fails('busy') : says(`after ${tries}`))
  }

  test('is tried again if its tool may be called twice', async () => {
    const definitions = { flaky: { annotations: { idempotentHint: true } } }
    const { output } = await run({ steps: [retry] }, { tools: { flaky: flaky() }, definitions })
    expect(output).toEqual({ text: 'after 3' })
  })

  test('is not tried again if it may have done something', async () => {
    const { output, calls } = await run({ steps: [retry] }, { tools: { flaky: flaky() } })
    expect(output).toBe('step "bad": busy')
    expect(calls).toHaveLength(1)
  })

  test('by taking too long says so', async () => {
    const { output } = await run({ steps: [{ id: 'long', tool: 'never', timeout: '20ms' }] }, { tools })
    expect(output).toBe('step "long": it took longer than 20ms')
    expect(await run({ timeout: '20ms', steps: [{ id: 'long', tool: 'never' }] }, { tools })).toMatchObject({
      output: 'step "long": it took longer than 20ms',
    })
  })
})

describe('a step with a condition', () => {
  const steps: Step[] = [
    { id: 'maybe', tool: 'ok', condition: '{{eq .params.mode "full"}}', defaultResults: { text: 'default' } },
    { id: 'after', tool: 'echo', dependsOn: ['maybe'], arguments: { of: '{{.steps.maybe.output.text}}' } },
  ]
  const tools: Record<string, Tool> = { ok: () => says('ran'), echo: args => says(String(args.of)) }

  test.each([
    ['full', 'ran', 'maybe completed'],
    ['small', 'default', 'maybe skipped'],
  ])('in mode %s', async (mode, text, status) => {
    const done = await run({ steps }, { tools, params: { mode } })
    expect(done.output).toEqual({ text })
    expect(done.statuses[0]).toBe(status)
  })

  test('that is neither true nor false fails', async () => {
    const { output } = await run(
      { steps: [{ id: 'a', tool: 'ok', condition: '{{.params.mode}}' }] },
      { tools, params: { mode: 'x' } },
    )
    expect(output).toBe('step "a": its condition is neither "true" nor "false", but "x"')
  })
})

describe('forEach', () => {
  const list =
    (ids: unknown[]): Tool =>
    () => ({ structuredContent: { ids } })
  const steps: Step[] = [
    { id: 'list', tool: 'list' },
    {
      id: 'all',
      type: 'forEach',
      dependsOn: ['list'],
      collection: '{{json .steps.list.output.ids}}',
      itemVar: 'one',
      maxParallel: 2,
      step: { tool: 'read', arguments: { id: '{{.forEach.one}}', at: '{{.forEach.index}}' } },
    },
  ]

  test('calls a tool for each element, no more at once than it says', async () => {
    let now = 0
    let most = 0
    const read: Tool = async ({ id, at }) => {
      now += 1
      most = Math.max(most, now)
      await delay(10)
      now -= 1
      return says(`${at}:${id}`)
    }
    const { output } = await run({ steps }, { tools: { list: list(['a', 'b', 'c']), read } })
    expect(output).toEqual({
      iterations: [
        { index: 0, item: 'a', status: 'completed', output: { text: '0:a' } },
        { index: 1, item: 'b', status: 'completed', output: { text: '1:b' } },
        { index: 2, item: 'c', status: 'completed', output: { text: '2:c' } },
      ],
      count: 3,
      completed: 3,
      failed: 0,
    })
    expect(most).toBe(2)
  })

  test('ends with the first failure, and cancels the other calls', async () => {
    const read: Tool = (args, signal) => (args.id === 'b' ? fails('no b') : never(args, signal))
    const { output, calls } = await run({ steps }, { tools: { list: list(['a', 'b', 'c']), read } })
    expect(output).toBe('step "all": no b')
    expect(calls.filter(({ tool }) => tool === 'read')).toHaveLength(2)
  })

  test('takes no more elements than it may', async () => {
    const many = Array.from({ length: 101 }, (_, index) => index)
    const { output } = await run({ steps }, { tools: { list: list(many), read: () => says('') } })
    expect(output).toBe('step "all": its collection has 101 elements, and "maxIterations" allows 100')
  })
})

describe('an elicitation', () => {
  const ask = (refusal: object): Step[] => [
    {
      id: 'ask',
      type: 'elicitation',
      message: 'Delete {{.params.name}}?',
      schema: { type: 'object' },
      ...refusal,
    },
    { id: 'delete', tool: 'delete', dependsOn: ['ask'] },
  ]
  const tools = { delete: () => says('deleted') }
  const params = { name: 'x' }

  test('asks the person, whose answer steps can use', async () => {
    const { output, questions } = await run(
      { steps: ask({}) },
      { tools, params, answer: { action: 'accept' } },
    )
    expect(questions).toEqual([{ message: 'Delete x?', schema: { type: 'object' } }])
    expect(output).toEqual({ text: 'deleted' })
  })

  test.each([
    [{}, 'step "ask": it was declined', []],
    [{ onDecline: { action: 'abort' } }, 'step "ask": it was declined', []],
    [{ onDecline: { action: 'continue' } }, { text: 'deleted' }, ['delete']],
    [{ onDecline: { action: 'skip_remaining' } }, {}, []],
  ])('that is declined, with %j', async (refusal, outcome, called) => {
    const { output, calls } = await run(
      { steps: ask(refusal) },
      { tools, params, answer: { action: 'decline' } },
    )
    expect(output).toEqual(outcome)
    expect(calls.map(({ tool }) => tool)).toEqual(called)
  })
})

test('the output is made of templates, with types and defaults', async () => {
  const { output } = await run(
    {
      steps: [{ id: 'a', tool: 'a' }],
      output: {
        properties: {
          count: { type: 'integer', value: '{{.steps.a.output.n}}' },
          absent: { type: 'string', value: '{{.steps.a.output.nothing}}', default: 'none' },
          left: { value: '{{.steps.a.output.nothing}}' },
          inner: {
            type: 'object',
            properties: { text: { type: 'string', value: '<{{.steps.a.output.n}}>' } },
          },
        },
        required: ['count'],
      },
    },
    { tools: { a: () => ({ structuredContent: { n: 3 } }) } },
  )
  expect(output).toEqual({ count: 3, absent: 'none', inner: { text: '<3>' } })
})

test('the caller can cancel', async () => {
  const cancel = new AbortController()
  const done = run({ steps: [{ id: 'a', tool: 'never' }] }, { tools: { never }, signal: cancel.signal })
  cancel.abort(new Error('the client has cancelled'))
  expect(await done).toMatchObject({ output: 'step "a": the client has cancelled' })
})
