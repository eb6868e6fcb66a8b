import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Tool, ToolResult } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { CallResult } from './call-result.tsx'
import { callTool } from './call-tool.ts'
import { checkArguments } from './check-arguments.ts'
import { CopyButton } from './copy-button.tsx'
import { type Draft, draftOf, readDraft } from './draft.ts'
import { membersOf } from './members.ts'
import { MemberFields, SchemaField } from './schema-field.tsx'
import { type Shape, shapeOf } from './shape.ts'
import { callCommand } from './shell-command.ts'
import { useWork } from './use-work.ts'

/** The whole as one text, for what the fields cannot say. */
const AS_JSON: Shape = { kind: 'json', label: '', description: 'All arguments as a JSON object.', preset: {} }

/** Asks for the arguments of a tool, calls it and shows what comes of it. */
export function CallForm({ api, workload, tool }: { api: Api; workload: string; tool: Tool }) {
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const schema = withProperties(tool.inputSchema ?? { type: 'object' })
  const own = shapeOf(schema)
  const [shape, setShape] = useState(own.kind === 'members' ? own : AS_JSON)
  const [draft, setDraft] = useState<Draft>(() => draftOf(shape))
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map())
  const { state, outcome, run, cancel } = useWork<ToolResult>({
    begun: 'Calling…',
    cancelled: 'The call was cancelled.',
  })

  function read() {
    const found = new Map<string, string>()
    const args = readDraft(shape, draft, { required: true, path: '', problems: found }) as object
    return { args, found: found.size > 0 ? found : checkArguments(schema, args) }
  }

  function submit(event: Event) {
    event.preventDefault()
    const { args, found } = read()
    setProblems(found)
    if (found.size === 0)
      void run(options => callTool(api, workload, { name: tool.name, arguments: args }, options))
  }
  useEffect(() => {
    if (problems.size > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [problems])

  function change(next: Shape) {
    const { args } = read()
    setShape(next)
    setDraft(draftOf(next, args))
    setProblems(new Map())
  }

  const fields = { id, draft, problems, path: '', onChange: setDraft }
  const isEmpty = shape.kind === 'members' && shape.members.length === 0
  return (
    <div class="call">
      <form
        ref={form}
        class="parameters"
        aria-label={`Arguments of ${tool.name}`}
        noValidate
        onSubmit={submit}
      >
        {isEmpty && <p class="soft">It takes no parameters.</p>}
        {shape.kind === 'members' ? (
          <MemberFields {...fields} members={shape.members} />
        ) : (
          <SchemaField {...fields} name="arguments" required shape={shape} />
        )}
        {shape.kind === 'members' && problems.has('') && <p class="problem">{problems.get('')}</p>}
        <div class="call-buttons">
          <button
            class={state === undefined ? 'primary' : ''}
            type="submit"
            aria-disabled={state !== undefined}
          >
            Call
          </button>
          {state !== undefined && (
            <button type="button" onClick={cancel}>
              Cancel
            </button>
          )}
          <CopyButton
            text={() => callCommand(workload, tool.name, read().args)}
            label={`Copy as command: ${tool.name}`}
            title="Copy as command"
          />
          {own.kind === 'members' && !isEmpty && (
            <button type="button" class="small" onClick={() => change(shape === AS_JSON ? own : AS_JSON)}>
              {shape === AS_JSON ? 'Use the fields' : 'Write as JSON'}
            </button>
          )}
        </div>
      </form>
      <p class="soft" role="status">
        {state}
      </p>
      {outcome?.problem !== undefined && (
        <p class="problem" role="alert">
          {outcome.problem}
        </p>
      )}
      {outcome?.result && <CallResult result={outcome.result} took={outcome.took} />}
    </div>
  )
}

/** Many servers leave out the properties of a tool that has none. */
function withProperties(schema: unknown): unknown {
  const { type, $ref } = membersOf(schema)
  return type === 'object' && $ref === undefined ? { properties: {}, ...membersOf(schema) } : schema
}
