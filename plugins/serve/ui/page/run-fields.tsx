import type { FieldProblems } from './check-draft.ts'
import { Choice, Field } from './field.tsx'
import { FolderRows } from './folder-rows.tsx'
import type { RunDraft } from './run-draft.ts'
import type { SecretKeys } from './secrets-missing.tsx'
import { VariableRows } from './variable-rows.tsx'

/** What a form knows besides the draft. */
export interface FormFacts {
  /** A remote server has headers, and nothing that a program on this machine has. */
  readonly isRemote: boolean
  readonly isChange: boolean
  readonly server?: string | undefined
  readonly groups: readonly string[]
}

interface Props {
  readonly draft: RunDraft
  readonly facts: FormFacts
  readonly keys: SecretKeys
  readonly problems: FieldProblems
  readonly onChange: (changed: Partial<RunDraft>) => void
}

const LOCAL_TRANSPORTS = ['stdio', 'streamable-http', 'sse'].map(one => [one, one] as const)
const RUNTIMES = ['docker', 'podman', 'process'].map(one => [one, one] as const)

/** Variables or headers, and arguments. */
export const MainFields = ({ draft, facts, keys, problems, onChange }: Props) => {
  const common = { keys, problems, server: facts.server }
  const headers = (
    <VariableRows
      {...common}
      kind="header"
      rows={draft.headers}
      canAdd={facts.isRemote}
      onChange={rows => onChange({ headers: rows })}
    />
  )
  const variables = (
    <VariableRows
      {...common}
      kind="variable"
      rows={draft.variables}
      canAdd={!facts.isRemote}
      onChange={rows => onChange({ variables: rows })}
    />
  )
  // Those of a remote server stand in its URL.
  if (facts.isRemote)
    return (
      <>
        {variables}
        {headers}
      </>
    )
  return (
    <>
      {variables}
      {draft.headers.length > 0 && headers}
      <Field
        id="arguments"
        label="Arguments"
        note="One on each line, as they are: nothing is split or expanded."
        problem={problems.get('arguments')}
      >
        {described => (
          <textarea
            {...described}
            class="mono"
            rows={1}
            spellcheck={false}
            autocomplete="off"
            value={draft.args}
            onInput={({ currentTarget }) => onChange({ args: currentTarget.value })}
            onKeyDown={submitWithControl}
          />
        )}
      </Field>
      <fieldset class="plain">
        <legend>Folders of this machine</legend>
        <FolderRows folders={draft.folders} problems={problems} onChange={folders => onChange({ folders })} />
      </fieldset>
    </>
  )
}

/** In a field of several lines, Enter begins a line. */
function submitWithControl(event: KeyboardEvent) {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  if (event.currentTarget instanceof HTMLTextAreaElement) event.currentTarget.form?.requestSubmit()
}

/** What few people change. */
export const MoreFields = ({ draft, facts, problems, onChange }: Props) => {
  const groups = [...new Set([draft.group, 'default', ...facts.groups])].map(one => [one, one] as const)
  const transports = facts.isRemote ? LOCAL_TRANSPORTS.slice(1) : LOCAL_TRANSPORTS
  const choices = { draft, problems, onChange }
  return (
    <div class="grid">
      <DraftChoice {...choices} member="group" label="Group" options={groups} />
      <DraftChoice
        {...choices}
        member="transport"
        label="Transport of the server"
        options={facts.isChange ? transports : [['', 'Find out'], ...transports]}
      />
      {!facts.isRemote && !facts.isChange && (
        <DraftChoice
          {...choices}
          member="runtime"
          label="Runtime"
          options={[['', 'The usual one'], ...RUNTIMES]}
        />
      )}
      {!facts.isRemote && (
        <DraftChoice
          {...choices}
          member="permissions"
          label="Network"
          options={[
            [
              'as-is',
              facts.isChange ? 'As it is now' : facts.server ? 'What the registry says' : 'The usual',
            ],
            ['network', 'Everything public'],
            ['hosts', 'Only these hosts'],
            ['none', 'Nothing'],
          ]}
        />
      )}
      {!facts.isRemote && draft.permissions === 'hosts' && (
        <Field
          id="hosts"
          label="Hosts it may reach"
          note="One on each line; “.example.com” stands for all names below it."
          problem={problems.get('hosts')}
        >
          {described => (
            <textarea
              {...described}
              rows={2}
              spellcheck={false}
              value={draft.hosts}
              onInput={({ currentTarget }) => onChange({ hosts: currentTarget.value })}
            />
          )}
        </Field>
      )}
    </div>
  )
}

function DraftChoice(props: {
  draft: RunDraft
  problems: FieldProblems
  member: 'group' | 'transport' | 'runtime' | 'permissions'
  label: string
  options: readonly (readonly [value: string, text: string])[]
  onChange: (changed: Partial<RunDraft>) => void
}) {
  const { draft, problems, member, label, options, onChange } = props
  return (
    <Field id={member} label={label} problem={problems.get(member)}>
      {described => (
        <Choice
          {...described}
          value={draft[member]}
          options={options}
          onChange={value => onChange({ [member]: value })}
        />
      )}
    </Field>
  )
}
