import { useState } from 'preact/hooks'
import type { Api } from './api.ts'
import { confirm } from './dialog.tsx'
import { Field, Line } from './field.tsx'
import { messageOf } from './message-of.ts'
import { announce } from './notices.tsx'
import { KEYS } from './secret-keys.ts'
import type { Place } from './secrets-dialog.tsx'

const NAME = /^[^,\p{Cc}]{1,300}$/u

/** The names of the stored secrets, and a form that stores one. */
export function SecretKeysPanel(props: { api: Api; place: Place; onChange: () => Promise<void> }) {
  const { api, place, onChange } = props
  const [problem, setProblem] = useState('')
  /** Of which a new value is asked for. */
  const [replaced, setReplaced] = useState('')

  async function remove(key: string) {
    const text = 'Workloads that use it cannot be started any more.'
    if (!(await confirm({ title: `Delete ${key}?`, text, action: 'Delete', danger: true }))) return
    setProblem('')
    await api
      .send('DELETE', `${KEYS}/${encodeURIComponent(key)}`)
      .then(onChange)
      .catch(error => setProblem(messageOf(error)))
    announce(`${key} is deleted`)
  }
  return (
    <>
      <p class="soft">
        Kept by the provider “{place.type}”. Values are never shown.
        {!place.isWritable && ' Nothing can be stored there.'}
      </p>
      {problem && (
        <p class="problem refusal" role="alert">
          {problem}
        </p>
      )}
      {place.names.length === 0 && <p class="soft">No secrets yet.</p>}
      <ul class="keys">
        {place.names.map(key => (
          <li key={key}>
            <code>{key}</code>
            {place.isWritable && (
              <>
                <button
                  type="button"
                  class="small"
                  aria-label={`New value for ${key}`}
                  onClick={() => setReplaced(key)}
                >
                  New value
                </button>
                <button
                  type="button"
                  class="small danger"
                  aria-label={`Delete ${key}`}
                  onClick={() => remove(key)}
                >
                  Delete
                </button>
              </>
            )}
          </li>
        ))}
      </ul>
      {place.isWritable && (
        <KeyForm
          key={replaced}
          {...{ api, onChange, replaced }}
          names={place.names}
          onDone={() => setReplaced('')}
        />
      )}
    </>
  )
}

/** Stores a secret. The value leaves the page with the request and is not kept. */
function KeyForm(props: {
  api: Api
  names: readonly string[]
  replaced: string
  onChange: () => Promise<void>
  onDone: () => void
}) {
  const { api, names, replaced, onChange, onDone } = props
  const [name, setName] = useState(replaced)
  const [value, setValue] = useState('')
  const [problems, setProblems] = useState<{ name?: string; value?: string }>({})
  const [isBusy, setBusy] = useState(false)

  async function submit(event: Event) {
    event.preventDefault()
    if (isBusy) return
    const found = check({ name, value, names: replaced ? [] : names })
    setProblems(found)
    if (found.name || found.value) return
    setBusy(true)
    setValue('')
    try {
      if (replaced) await api.send('PUT', `${KEYS}/${encodeURIComponent(name)}`, { value })
      else await api.send('POST', KEYS, { key: name, value })
      announce(`${name} is stored`)
      setName('')
      onDone()
      await onChange()
    } catch (error) {
      setProblems({ value: `${messageOf(error)} Type the value again.` })
    }
    setBusy(false)
  }
  return (
    <form class="key-form" noValidate onSubmit={submit} aria-label="Store a secret">
      <Field id="secret-name" label="Name" problem={problems.name}>
        {described =>
          replaced ? (
            <code id="secret-name">{replaced}</code>
          ) : (
            <Line {...described} value={name} placeholder="GITHUB_TOKEN" onChange={setName} />
          )
        }
      </Field>
      <Field id="secret-value" label={replaced ? 'New value' : 'Value'} problem={problems.value}>
        {described => <Line {...described} type="password" value={value} onChange={setValue} />}
      </Field>
      <div class="buttons">
        {replaced && (
          <button type="button" onClick={onDone}>
            Cancel
          </button>
        )}
        <button type="submit" class="primary" aria-disabled={isBusy}>
          Store
        </button>
      </div>
    </form>
  )
}

function check({ name, value, names }: { name: string; value: string; names: readonly string[] }) {
  if (!name) return { name: 'A name is needed.' }
  if (!NAME.test(name)) return { name: 'A name has no comma, and 300 characters at most.' }
  if (names.includes(name)) return { name: 'There is a secret of this name. Choose “New value” beside it.' }
  return value ? {} : { value: 'A value is needed.' }
}
