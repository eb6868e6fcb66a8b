import type { ComponentChildren } from 'preact'
import { type FieldProblems, variableId } from './check-draft.ts'
import { Choice, Field, Line } from './field.tsx'
import { emptyVariable, type VariableDraft } from './run-draft.ts'
import { type SecretKeys, SecretsMissing } from './secrets-missing.tsx'

interface RowsProps {
  /** Tells the fields of several such groups apart. */
  readonly kind: 'variable' | 'header'
  readonly rows: readonly VariableDraft[]
  readonly problems: FieldProblems
  readonly keys: SecretKeys
  /** The server of the registry that gets them. */
  readonly server?: string | undefined
  readonly onChange: (rows: readonly VariableDraft[]) => void
}

/** Fields for variables or headers: those that the server asks for, and, with `canAdd`, others. */
export function VariableRows({ canAdd = false, ...props }: RowsProps & { canAdd?: boolean }) {
  const { kind, rows, onChange } = props
  const change = (row: VariableDraft) => onChange(rows.map(one => (one.key === row.key ? row : one)))
  const remove = (row: VariableDraft) => onChange(rows.filter(one => one !== row))
  return (
    <>
      {rows.map(row =>
        row.about ? (
          <AskedRow key={row.key} {...props} row={row} onChange={change} />
        ) : (
          <AddedRow key={row.key} {...props} row={row} onChange={change} onRemove={() => remove(row)} />
        ),
      )}
      {canAdd && (
        <div class="adds">
          <button type="button" class="small" onClick={() => onChange([...rows, emptyVariable()])}>
            Add a {kind}
          </button>
          <button type="button" class="small" onClick={() => onChange([...rows, emptyVariable(true)])}>
            Add a secret {kind}
          </button>
        </div>
      )}
    </>
  )
}

type RowProps = Omit<RowsProps, 'rows' | 'onChange'> & {
  readonly row: VariableDraft
  readonly onChange: (row: VariableDraft) => void
}

/** What the server asks for by name. */
function AskedRow({ kind, row, problems, keys, server, onChange }: RowProps) {
  const { name, about, isSecret } = row
  const id = variableId(kind, row)
  const tags = [about?.required ? 'required' : 'optional', isSecret && 'secret'].filter(Boolean)
  const label = (
    <>
      <code>{name}</code> <span class="tag">{tags.join(', ')}</span>
    </>
  )
  if (isSecret && !keys.names)
    return (
      <div class="field">
        <span class="label">{label}</span>
        {about?.description && <p class="soft said">{about.description}</p>}
        <SecretsMissing keys={keys} />
        {problems.has(id) && <p class="problem">{problems.get(id)}</p>}
      </div>
    )
  const given = isSecret && server && (
    <span class="given">
      It is given to <code>{server}</code>.
    </span>
  )
  const note: ComponentChildren = (about?.description || given) && (
    <>
      {about?.description}
      {given}
    </>
  )
  return (
    <Field id={id} label={label} note={note} problem={problems.get(id)}>
      {described => <Value {...{ row, keys, onChange, described, required: about?.required ?? false }} />}
    </Field>
  )
}

/** What the user has added: its name is a field, too. */
function AddedRow({ kind, row, problems, keys, onChange, onRemove }: RowProps & { onRemove: () => void }) {
  const id = variableId(kind, row)
  const problem = problems.get(`${id}-name`) ?? problems.get(id)
  const what = row.name || `the new ${kind}`
  const described = { id, 'aria-describedby': `${id}-note`, 'aria-invalid': problems.has(id) }
  return (
    <div class="row">
      <div class="row-fields">
        <Line
          id={`${id}-name`}
          aria-label={`Name of the ${kind}`}
          aria-describedby={`${id}-note`}
          aria-invalid={problems.has(`${id}-name`)}
          placeholder="NAME"
          value={row.name}
          onChange={name => onChange({ ...row, name })}
        />
        {row.isSecret && !keys.names ? (
          <SecretsMissing keys={keys} />
        ) : (
          <Value {...{ row, keys, onChange, described, required: false }} label={`Value of ${what}`} />
        )}
        <button type="button" class="small" aria-label={`Remove ${what}`} onClick={onRemove}>
          Remove
        </button>
      </div>
      <div id={`${id}-note`}>{problem && <p class="problem">{problem}</p>}</div>
    </div>
  )
}

function Value(props: {
  row: VariableDraft
  keys: SecretKeys
  required: boolean
  label?: string
  described: { id: string; 'aria-describedby': string; 'aria-invalid': boolean }
  onChange: (row: VariableDraft) => void
}) {
  const { row, keys, required, label, described, onChange } = props
  const { name, value, stored, isSecret, about } = row
  const named = label ? { 'aria-label': label } : {}
  const common = { ...described, ...named, value, required }
  const write = (typed: string) => onChange({ ...row, value: typed })
  if (about?.choices?.length) {
    const options = about.choices.map(one => [one, one] as const)
    return <Choice {...common} options={[['', 'Not set'], ...options]} onChange={write} />
  }
  if (!isSecret) return <Line {...common} onChange={write} />
  const typed = <Line {...common} type="password" onChange={write} />
  if (!keys.names?.length && !stored) return typed
  const all = [...new Set([...(stored ? [stored] : []), ...(keys.names ?? [])])]
  const word = (key: string) => `${key === keys.agreed?.get(name) ? 'As before' : 'Stored'}: ${key}`
  return (
    <div class="pair">
      <Choice
        aria-label={`${name || 'The secret'}: where it comes from`}
        value={stored}
        options={[['', 'A value I type'], ...all.map(key => [key, word(key)] as const)]}
        onChange={key => onChange({ ...row, stored: key, value: '' })}
      />
      {!stored && typed}
    </div>
  )
}
