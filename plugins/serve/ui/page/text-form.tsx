import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { type Draft, draftOf, readDraft } from './draft.ts'
import { MemberFields } from './schema-field.tsx'
import type { Member, Shape } from './shape.ts'

export interface Variable {
  readonly name: string
  readonly description?: string
  readonly required?: boolean
}

/** Asks for variables that are texts, then for something of a server. `children` stand below the fields. */
export function TextForm(props: {
  label: string
  action: string
  variables: readonly Variable[]
  /** What is going on; undefined when nothing is. */
  state: string | undefined
  onSubmit: (values: Record<string, string>) => void
  onCancel: () => void
  children?: ComponentChildren
}) {
  const { label, action, variables, state, onSubmit, onCancel } = props
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const members = variables.map(toMember)
  const shape: Shape = { kind: 'members', members, label: '', description: '', preset: undefined }
  const [draft, setDraft] = useState<Draft>(() => draftOf(shape))
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map())

  function submit(event: Event) {
    event.preventDefault()
    const found = new Map<string, string>()
    const values = readDraft(shape, draft, { required: true, path: '', problems: found })
    for (const { name, required } of members)
      if (required && !(values as Record<string, string>)[name])
        found.set(`/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, 'A value is needed.')
    setProblems(found)
    if (found.size === 0) onSubmit(values as Record<string, string>)
  }
  useEffect(() => {
    if (problems.size > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [problems])

  return (
    <>
      <form ref={form} class="parameters" aria-label={label} noValidate onSubmit={submit}>
        <MemberFields {...{ id, members, draft, problems, path: '', onChange: setDraft }} />
        <div class="call-buttons">
          <button
            class={state === undefined ? 'primary' : ''}
            type="submit"
            aria-disabled={state !== undefined}
          >
            {action}
          </button>
          {state !== undefined && (
            <button type="button" onClick={onCancel}>
              Cancel
            </button>
          )}
          {props.children}
        </div>
      </form>
      <p class="soft" role="status">
        {state}
      </p>
    </>
  )
}

const toMember = ({ name, description = '', required = false }: Variable): Member => ({
  name,
  required,
  shape: { kind: 'text', label: '', description, preset: undefined },
})
