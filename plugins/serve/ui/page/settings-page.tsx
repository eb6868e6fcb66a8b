import { useState } from 'preact/hooks'
import type { RegistrySummary, SecretsPlace } from '../page-types.d.ts'
import { type Api, Refusal } from './api.ts'
import { Fact } from './facts.tsx'
import { PageFrame } from './page-frame.tsx'
import { useLoad } from './use-load.ts'

interface Settings {
  readonly version: string
  readonly registry: RegistrySummary | undefined
  readonly secrets: SecretsPlace | undefined
  /** Why the registry cannot be read. */
  readonly trouble: string
}

const SOURCES: Readonly<Record<string, string>> = {
  default: 'The built-in catalogue',
  file: 'A file',
  url: 'A file on the web',
  api: 'A registry server',
}

/** What this keelson is set to. */
export function SettingsPage({ api }: { api: Api }) {
  const { value, problem, again } = useLoad(signal => readSettings(api, signal))
  const [state, setState] = useState('')
  const [refusal, setRefusal] = useState('')

  async function refresh() {
    setState('Reading the registry anew…')
    setRefusal('')
    await api
      .send('POST', '/api/v1beta/registry/default/refresh')
      .catch(error => setRefusal((error as Error).message))
    setState('')
    again()
  }

  const { version = '', registry, secrets, trouble = '' } = value ?? {}
  return (
    <PageFrame
      title="Settings"
      lead="Settings are changed in a terminal: keelson config --help lists the commands."
      problem={refusal || problem}
      isLoaded={value !== undefined}
    >
      <h3>Registry</h3>
      {trouble && <p class="problem">{trouble}</p>}
      {registry && (
        <dl class="facts">
          <Fact term="Read from">
            {SOURCES[registry.type] ?? registry.type}
            {registry.source && (
              <>
                : <code>{registry.source}</code>
              </>
            )}
          </Fact>
          <Fact term="Servers">{registry.server_count}</Fact>
          {registry.last_updated && (
            <Fact term="Updated">{new Date(registry.last_updated).toLocaleString()}</Fact>
          )}
          <Fact term="Login">
            {registry.auth_type ? `${registry.auth_type}: ${registry.auth_status}` : 'Not needed.'}
          </Fact>
        </dl>
      )}
      <p>
        <button type="button" class="small" aria-disabled={state !== ''} onClick={() => state || refresh()}>
          Read the registry anew
        </button>{' '}
        <span class="soft" role="status">
          {state}
        </span>
      </p>
      <h3>Secrets</h3>
      <dl class="facts">
        <Fact term="Kept in">
          {secrets ? secrets.provider_type : 'Nothing is set up: keelson secret setup'}
        </Fact>
        {secrets && (
          <Fact term="Can store">{secrets.capabilities.can_write ? 'Yes.' : 'No, only read.'}</Fact>
        )}
      </dl>
      <h3>This program</h3>
      <dl class="facts">
        <Fact term="Version">{version}</Fact>
        <Fact term="API">{location.origin}</Fact>
      </dl>
    </PageFrame>
  )
}

async function readSettings(api: Api, signal: AbortSignal): Promise<Settings> {
  let trouble = ''
  const [{ version }, registry, secrets] = await Promise.all([
    api.get('/api/v1beta/version', signal),
    api.get('/api/v1beta/registry', signal).catch(error => {
      trouble = (error as Error).message
    }),
    api.get('/api/v1beta/secrets/default', signal).catch(ifMissing),
  ])
  return { version, registry: registry?.registries[0], secrets, trouble }
}

/** No place for secrets is set up yet. */
function ifMissing(error: unknown): undefined {
  if (!(error instanceof Refusal) || error.status !== 404) throw error
}
