import { useState } from 'preact/hooks'
import type { Skill } from '../page-types.d.ts'
import { type Api, Refusal } from './api.ts'
import { confirm } from './dialog.tsx'
import { announce } from './notices.tsx'
import { PageFrame } from './page-frame.tsx'
import { useLoad } from './use-load.ts'

const PATH = '/api/v1beta/skills'

/** The skills that are installed for the user. */
export function SkillsPage({ api }: { api: Api }) {
  const { value, problem, again } = useLoad<Skill[]>(async signal => (await api.get(PATH, signal)).skills)
  const [refusal, setRefusal] = useState('')

  async function remove({ metadata: { name }, scope, project_root: root }: Skill) {
    const question = { title: `Remove ${name}?`, text: 'It is removed from all clients.', action: 'Remove' }
    if (!(await confirm({ ...question, danger: true }))) return
    setRefusal('')
    const query = new URLSearchParams({ scope, ...(root ? { project_root: root } : {}) })
    try {
      await api.send('DELETE', `${PATH}/${encodeURIComponent(name)}?${query}`)
      announce(`${name} is removed`)
    } catch (error) {
      setRefusal((error as Error).message)
    }
    again()
  }

  return (
    <PageFrame
      title="Skills"
      lead="Folders with instructions that your applications read. A skill can make an application do what it says, so install only what you trust."
      problem={refusal || problem}
      isLoaded={value !== undefined}
    >
      <InstallForm api={api} onInstalled={again} />
      {value?.length === 0 && <p class="soft">No skill is installed.</p>}
      <ul class="rows">
        {value?.map(skill => (
          <SkillRow
            key={`${skill.scope} ${skill.metadata.name}`}
            skill={skill}
            onRemove={() => remove(skill)}
          />
        ))}
      </ul>
    </PageFrame>
  )
}

const SkillRow = ({ skill, onRemove }: { skill: Skill; onRemove: () => void }) => {
  const { metadata, scope, project_root: root, reference, digest, clients = [], installed_at } = skill
  const facts = [
    ['From', reference],
    ['Digest', digest],
    ['For', clients.join(', ') || undefined],
    ['Project', scope === 'project' ? root : undefined],
    ['Author', metadata.author],
    ['Installed', new Date(installed_at).toLocaleString()],
  ].filter(([, text]) => text)
  return (
    <li>
      <details>
        <summary>
          <span class="name">{metadata.name}</span> <span class="soft">{metadata.version}</span>
        </summary>
        <p class="said">{metadata.description}</p>
        <dl class="facts">
          {facts.map(([term, text]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      </details>
      <button type="button" class="small danger" aria-label={`Remove ${metadata.name}`} onClick={onRemove}>
        Remove
      </button>
    </li>
  )
}

/** Installs a skill from a reference. An unsigned one is installed only when the user agrees to it. */
function InstallForm({ api, onInstalled }: { api: Api; onInstalled: () => void }) {
  const [reference, setReference] = useState('')
  const [state, setState] = useState('')
  const [problem, setProblem] = useState('')

  async function install(event: Event) {
    event.preventDefault()
    const name = reference.trim()
    if (!name || state) return
    setProblem('')
    setState('Installing…')
    try {
      const isDone = await installAgreed(api, name)
      if (isDone) {
        setReference('')
        announce(`${name} is installed`)
        onInstalled()
      }
    } catch (error) {
      setProblem((error as Error).message)
    }
    setState('')
  }

  return (
    <form class="install" onSubmit={install}>
      <label for="skill-reference">Install a skill</label>
      <div class="item">
        <input
          id="skill-reference"
          value={reference}
          placeholder="Name, git:// URL or OCI reference"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setReference(currentTarget.value)}
        />
        <button class="primary" type="submit" aria-disabled={state !== ''}>
          Install
        </button>
      </div>
      <p class="soft" role="status">
        {state}
      </p>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  )
}

/** Returns whether it is installed. */
async function installAgreed(api: Api, name: string): Promise<boolean> {
  try {
    await api.send('POST', PATH, { name })
    return true
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 403 || !/unsigned|sign/i.test(error.message))
      throw error
    const isAgreed = await confirm({
      title: 'Install an unsigned skill?',
      text: `${error.message} Nobody can say who made it, or whether it was changed on the way.`,
      action: 'Install',
      danger: true,
    })
    if (isAgreed) await api.send('POST', PATH, { name, allow_unsigned: true })
    return isAgreed
  }
}
