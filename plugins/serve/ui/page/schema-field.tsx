import type { ComponentChildren } from 'preact'
import { type Draft, draftOf, type Problems } from './draft.ts'
import type { Member, Shape } from './shape.ts'

export interface FieldProps<S extends Shape = Shape> {
  /** Unique in the page. The fields within have ids that begin with it. */
  readonly id: string
  readonly name: string
  readonly required: boolean
  readonly shape: S
  readonly draft: Draft
  readonly problems: Problems
  /** Where the value is in the whole, as a JSON Pointer (RFC 6901). */
  readonly path: string
  readonly onChange: (draft: Draft) => void
}

type Of<K extends Shape['kind']> = Extract<Shape, { kind: K }>

/** The field, or the fields, for a value of this shape. */
export function SchemaField(props: FieldProps) {
  const { shape } = props
  if (shape.kind === 'members') return <MembersField {...props} shape={shape} />
  if (shape.kind === 'list') return <ListField {...props} shape={shape} />
  return (
    <div class="field">
      <label for={props.id}>
        <Title {...props} />
      </label>
      <Input {...props} />
      <Note {...props} />
    </div>
  )
}

const MembersField = ({
  id,
  name,
  required,
  shape,
  draft,
  problems,
  path,
  onChange,
}: FieldProps<Of<'members'>>) => (
  <fieldset class="group">
    <legend>
      <Title name={name} required={required} shape={shape} />
    </legend>
    <Note {...{ id, shape, problems, path }} />
    <MemberFields {...{ id, members: shape.members, draft, problems, path, onChange }} />
  </fieldset>
)

/** One field for each member of an object. */
export const MemberFields = ({
  id,
  members,
  draft,
  path,
  onChange,
  problems,
}: Omit<FieldProps, 'name' | 'required' | 'shape'> & { readonly members: readonly Member[] }) => (
  <>
    {members.map(({ name, required, shape }, index) => (
      <SchemaField
        key={name}
        id={`${id}-${index}`}
        {...{ name, required, shape, problems }}
        draft={(draft as Record<string, Draft>)[name] ?? ''}
        path={`${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`}
        onChange={changed => onChange({ ...(draft as Record<string, Draft>), [name]: changed })}
      />
    ))}
  </>
)

function ListField({ id, name, required, shape, draft, problems, path, onChange }: FieldProps<Of<'list'>>) {
  const items = Array.isArray(draft) ? (draft as readonly Draft[]) : []
  return (
    <fieldset class="group">
      <legend>
        <Title name={name} required={required} shape={shape} />
      </legend>
      <Note {...{ id, shape, problems, path }} />
      {items.map((item, index) => (
        <div class="item" key={index}>
          <SchemaField
            id={`${id}-${index}`}
            name={`${name} ${index + 1}`}
            required={false}
            shape={shape.item}
            draft={item}
            problems={problems}
            path={`${path}/${index}`}
            onChange={changed => onChange(items.with(index, changed))}
          />
          <button
            type="button"
            class="small"
            aria-label={`Remove ${name} ${index + 1}`}
            onClick={() => onChange(items.toSpliced(index, 1))}
          >
            Remove
          </button>
        </div>
      ))}
      <button
        type="button"
        class="small add"
        aria-label={`Add to ${name}`}
        onClick={() => onChange([...items, draftOf(shape.item)])}
      >
        Add
      </button>
    </fieldset>
  )
}

const TYPES: Readonly<Record<Shape['kind'], string>> = {
  text: 'text',
  number: 'number',
  integer: 'whole number',
  'yes-no': 'yes or no',
  choice: 'choice',
  list: 'list',
  members: 'object',
  json: 'JSON',
}

const Title = ({ name, required, shape }: Pick<FieldProps, 'name' | 'required' | 'shape'>) => (
  <>
    <code>{name}</code> <span class="type">{TYPES[shape.kind]}</span>
    {required && <span class="tag">required</span>}
  </>
)

/** What the schema says of the value, and what is wrong with it. */
const Note = ({ id, shape, problems, path }: Pick<FieldProps, 'id' | 'shape' | 'problems' | 'path'>) => {
  const problem = problemAt(problems, path, shape)
  return (
    <div id={`${id}-note`}>
      {shape.description && <p class="soft said">{shape.description}</p>}
      {problem && <p class="problem">{problem}</p>}
    </div>
  )
}

/** A field for JSON shows what is wrong within, too. */
function problemAt(problems: Problems, path: string, shape: Shape): string | undefined {
  const within = [...problems].find(([place]) => shape.kind === 'json' && place.startsWith(`${path}/`))
  return problems.get(path) ?? (within && `${within[0].slice(path.length + 1)}: ${within[1]}`)
}

function Input({ id, required, shape, draft, problems, path, onChange }: FieldProps) {
  const value = String(draft)
  const common = {
    id,
    value,
    'aria-describedby': `${id}-note`,
    'aria-required': required,
    'aria-invalid': problemAt(problems, path, shape) !== undefined,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => onChange(currentTarget.value),
  }
  if (shape.kind === 'choice' || shape.kind === 'yes-no')
    return <select {...common}>{optionsOf(shape)}</select>
  // Enter begins a line in these; with Ctrl or Command it calls.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    if (event.currentTarget instanceof HTMLTextAreaElement) event.currentTarget.form?.requestSubmit()
  }
  const isLong = shape.kind === 'json' || value.includes('\n') || value.length > 80
  if (isLong || shape.kind === 'text')
    return (
      <textarea
        {...common}
        onKeyDown={onKeyDown}
        rows={isLong ? 4 : 1}
        spellcheck={false}
        autocomplete="off"
      />
    )
  return <input {...common} type="text" inputMode="decimal" autocomplete="off" />
}

function optionsOf(shape: Of<'choice'> | Extract<Shape, { kind: string }>): ComponentChildren {
  const options: [value: string, text: string][] =
    shape.kind === 'choice'
      ? shape.choices.map((one, index) => [
          String(index),
          typeof one === 'string' ? one : JSON.stringify(one),
        ])
      : [
          ['true', 'yes'],
          ['false', 'no'],
        ]
  return [['', 'Not set'], ...options].map(([value, text]) => (
    <option key={value} value={value ?? ''}>
      {text}
    </option>
  ))
}
