import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { checkDraft, type FieldProblems } from './check-draft.ts'
import { Field, Line } from './field.tsx'
import { messageOf } from './message-of.ts'
import { showProblem } from './notices.tsx'
import { refusedFields } from './refused-fields.ts'
import type { RunDraft } from './run-draft.ts'
import { type FormFacts, MainFields, MoreFields } from './run-fields.tsx'
import type { SecretKeys } from './secrets-missing.tsx'

/** Sends a draft that has been checked. What it stores on the way goes into the fields by `update`. */
export type Send = (
  draft: RunDraft,
  way: { update: (changed: Partial<RunDraft>) => void; signal: AbortSignal },
) => Promise<void>

interface Props {
  readonly first: RunDraft
  readonly facts: FormFacts
  readonly keys: SecretKeys
  /** The word on the button, and what is said while it works. */
  readonly action: string
  readonly waiting: string
  /** A button that leads elsewhere. */
  readonly back?: ComponentChildren
  /** Stands above the fields. */
  readonly children?: ComponentChildren
  readonly send: Send
}

/** The form that runs, edits or clones a workload. */
export function RunForm({ first, facts, keys, action, waiting, back, children, send }: Props) {
  const { draft, update, problems, refusal, isBusy, submit, cancel } = useSending(first, send)
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>('input, textarea, select')?.focus(), [])
  useEffect(() => {
    if (problems.size > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [problems])

  const fields = { draft, facts, keys, problems, onChange: update }
  return (
    <form ref={form} noValidate aria-busy={isBusy} onSubmit={submit}>
      {children}
      {!facts.isChange && (
        <Field
          id="workload-name"
          label="Name"
          note="Letters, digits, “.”, “_” and “-”."
          problem={problems.get('workload-name')}
        >
          {described => (
            <Line {...described} required value={draft.name} onChange={name => update({ name })} />
          )}
        </Field>
      )}
      <MainFields {...fields} />
      <details class="more" open={problems.has('hosts') || facts.isChange}>
        <summary>More options</summary>
        <MoreFields {...fields} />
      </details>
      {refusal && (
        <p class="problem refusal" role="alert">
          {refusal}
        </p>
      )}
      <p class="soft" role="status">
        {isBusy && waiting}
      </p>
      <div class="buttons">
        {isBusy ? (
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        ) : (
          back
        )}
        <button type="submit" class="primary" aria-disabled={isBusy}>
          {action}
        </button>
      </div>
    </form>
  )
}

/** Checks and sends the draft, once at a time, and keeps what was wrong. */
function useSending(first: RunDraft, send: Send) {
  const [draft, setDraft] = useState(first)
  const latest = useRef(first)
  const [problems, setProblems] = useState<FieldProblems>(new Map())
  const [refusal, setRefusal] = useState('')
  const [sending, setSending] = useState<AbortController | undefined>()
  const isGone = useRef(false)
  useEffect(
    () => () => {
      isGone.current = true
    },
    [],
  )

  function update(changed: Partial<RunDraft>) {
    latest.current = { ...latest.current, ...changed }
    setDraft(latest.current)
  }

  function refuse(error: unknown, wasCancelled: boolean) {
    if (isGone.current) return showProblem(error)
    const { rows, problems: found } = refusedFields(error, latest.current)
    update(rows)
    setProblems(found)
    setRefusal(wasCancelled ? 'Cancelled. Nothing was made.' : messageOf(error))
  }

  async function submit(event: Event) {
    event.preventDefault()
    if (sending) return
    const found = checkDraft(latest.current)
    setProblems(found)
    setRefusal('')
    if (found.size > 0) return
    const ending = new AbortController()
    setSending(ending)
    try {
      await send(latest.current, { update, signal: ending.signal })
    } catch (error) {
      refuse(error, ending.signal.aborted)
    }
    setSending(undefined)
  }
  return {
    ...{ draft, update, problems, refusal, submit },
    isBusy: sending !== undefined,
    cancel: () => sending?.abort(),
  }
}
