import type { FieldProblems } from './check-draft.ts'
import { Choice, Line } from './field.tsx'
import { emptyFolder, type FolderDraft } from './run-draft.ts'

const MODES = [
  ['ro', 'may read'],
  ['rw', 'may read and change'],
] as const

/** Folders of this machine that the server gets. */
export function FolderRows({
  folders,
  problems,
  onChange,
}: {
  folders: readonly FolderDraft[]
  problems: FieldProblems
  onChange: (folders: readonly FolderDraft[]) => void
}) {
  const change = (folder: FolderDraft) =>
    onChange(folders.map(one => (one.key === folder.key ? folder : one)))
  return (
    <>
      {folders.map((folder, index) => (
        <FolderRow
          key={folder.key}
          {...{ folder, problems, onChange: change }}
          label={`folder ${index + 1}`}
          onRemove={() => onChange(folders.filter(one => one !== folder))}
        />
      ))}
      <div class="adds">
        <button type="button" class="small" onClick={() => onChange([...folders, emptyFolder()])}>
          Add a folder
        </button>
      </div>
    </>
  )
}

function FolderRow(props: {
  folder: FolderDraft
  label: string
  problems: FieldProblems
  onChange: (folder: FolderDraft) => void
  onRemove: () => void
}) {
  const { folder, label, problems, onChange, onRemove } = props
  const id = `folder-${folder.key}`
  const problem = problems.get(id) ?? problems.get(`${id}-inside`)
  return (
    <div class="row">
      <div class="row-fields">
        <Line
          id={id}
          aria-label={`Path of ${label} on this machine`}
          aria-describedby={`${id}-note`}
          aria-invalid={problems.has(id)}
          placeholder="/home/me/notes"
          value={folder.host}
          onChange={host => onChange({ ...folder, host })}
        />
        <Line
          id={`${id}-inside`}
          aria-label={`Path of ${label} for the server`}
          aria-describedby={`${id}-note`}
          aria-invalid={problems.has(`${id}-inside`)}
          placeholder="the same path"
          value={folder.inside}
          onChange={inside => onChange({ ...folder, inside })}
        />
        <Choice
          aria-label={`What the server may do in ${label}`}
          value={folder.isReadOnly ? 'ro' : 'rw'}
          options={MODES}
          onChange={mode => onChange({ ...folder, isReadOnly: mode === 'ro' })}
        />
        <button type="button" class="small" aria-label={`Remove ${label}`} onClick={onRemove}>
          Remove
        </button>
      </div>
      <div id={`${id}-note`}>{problem && <p class="problem">{problem}</p>}</div>
    </div>
  )
}
