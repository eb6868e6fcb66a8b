import type { ComponentChildren } from 'preact'

/** What ties an input to the texts around it. */
export interface Described {
  readonly id: string
  readonly 'aria-describedby': string
  readonly 'aria-invalid': boolean
}

/** A labelled input with a note, and with what is wrong with it. */
export function Field(props: {
  id: string
  label: ComponentChildren
  note?: ComponentChildren
  problem?: string | undefined
  children: (described: Described) => ComponentChildren
}) {
  const { id, label, note, problem, children } = props
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': `${id}-note`, 'aria-invalid': problem !== undefined })}
      <div id={`${id}-note`}>
        {problem !== undefined && <p class="problem">{problem}</p>}
        {note && <p class="soft said">{note}</p>}
      </div>
    </div>
  )
}

/** A line of text that is taken as it stands: no completion, no spelling. */
export const Line = (
  props: Partial<Described> & {
    value: string
    onChange: (value: string) => void
    type?: 'text' | 'password' | 'search'
    placeholder?: string
    required?: boolean
    'aria-label'?: string
    list?: string
  },
) => {
  const { onChange, type = 'text', required = false, ...rest } = props
  return (
    <input
      {...rest}
      type={type}
      aria-required={required}
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}

/** One of several words. Each option is a value and what it is called. */
export const Choice = (
  props: Partial<Described> & {
    value: string
    options: readonly (readonly [value: string, text: string])[]
    onChange: (value: string) => void
    'aria-label'?: string
  },
) => {
  const { options, onChange, ...rest } = props
  return (
    <select {...rest} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  )
}
