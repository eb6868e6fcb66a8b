import { useEffect, useRef, useState } from 'preact/hooks'
import type { Entry } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { Line } from './field.tsx'
import { messageOf } from './message-of.ts'
import { rankEntries } from './rank-entries.ts'
import type { Chosen } from './run-draft.ts'

const SETTLE_MS = 150
const MOST = 200
/** What runs without an entry of the registry: a package, a URL, or an image with a path or a tag. */
const REFERENCE =
  /^(?:npx|uvx|go|https?):\/\/\S+$|^[\w.-]+(?::\d+)?(?:\/[\w.-]+)+(?::[\w.-]+)?(?:@sha256:\w+)?$|^[\w.-]+:[\w.-]+$/

interface Found {
  readonly wanted: string
  readonly entries: readonly Entry[]
  readonly total: number
}

/** A field and the servers of the registry that match it. Enter takes the first. An error of `onChoose` is shown here. */
export function RegistrySearch({ api, onChoose }: { api: Api; onChoose: (chosen: Chosen) => Promise<void> }) {
  const [wanted, setWanted] = useState('')
  const [found, setFound] = useState<Found | undefined>()
  const [problem, setProblem] = useState('')
  const form = useRef<HTMLFormElement>(null)
  const text = wanted.trim()
  const fail = (error: unknown) => setProblem(messageOf(error))

  useEffect(() => form.current?.querySelector('input')?.focus(), [])
  useEffect(() => {
    const ending = new AbortController()
    const { signal } = ending
    const look = () =>
      search(api, text, signal).then(
        all => {
          if (signal.aborted) return
          setFound(all)
          setProblem('')
        },
        error => signal.aborted || fail(error),
      )
    const timer = setTimeout(look, found ? SETTLE_MS : 0)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [text])

  const chooseEntry = (entry: Entry) => detailsOf(api, entry).then(onChoose).catch(fail)
  const chooseReference = () => onChoose({ name: text, description: '', reference: text }).catch(fail)

  async function submit(event: Event) {
    event.preventDefault()
    if (REFERENCE.test(text)) return chooseReference()
    if (!text) return
    try {
      const { entries } = found?.wanted === text ? found : await search(api, text)
      if (entries[0]) await chooseEntry(entries[0])
    } catch (error) {
      fail(error)
    }
  }

  return (
    <form ref={form} onSubmit={submit} noValidate>
      <label for="search">What do you want to run?</label>
      <Line
        id="search"
        type="search"
        placeholder="time, github, npx://…"
        aria-describedby="search-note"
        value={wanted}
        onChange={setWanted}
      />
      <p class="soft" id="search-note">
        A word finds servers of the registry. A package (npx://, uvx://, go://), an image or a URL runs as it
        is.
      </p>
      {problem && (
        <p class="problem refusal" role="alert">
          {problem}
        </p>
      )}
      <p class="soft" role="status">
        {REFERENCE.test(text) ? 'It can run as it is.' : found ? countOf(found) : 'Asking the registry…'}
      </p>
      <ul class="results">
        {REFERENCE.test(text) && (
          <Result title={text} what="Run it as it is, isolated." onClick={chooseReference} />
        )}
        {found?.entries.map(entry => (
          <Result
            key={entry.name}
            title={entry.title ?? entry.name}
            name={entry.title ? entry.name : undefined}
            what={entry.description}
            onClick={() => chooseEntry(entry)}
          />
        ))}
      </ul>
    </form>
  )
}

async function search(api: Api, wanted: string, signal?: AbortSignal): Promise<Found> {
  const query = new URLSearchParams({ q: wanted, limit: String(MOST) })
  const { servers, metadata } = await api.get(`/registry/default/v0.1/servers?${query}`, signal)
  return { wanted, entries: rankEntries(servers, wanted), total: metadata.total }
}

async function detailsOf(api: Api, { name }: Entry): Promise<Chosen> {
  const path = `/api/v1beta/registry/default/servers/${encodeURIComponent(name)}`
  const { server, remote_server } = await api.get(path)
  return server ?? remote_server
}

const Result = (props: { title: string; name?: string | undefined; what: string; onClick: () => void }) => (
  <li>
    <button type="button" onClick={props.onClick}>
      <span class="name">{props.title}</span>
      {props.name && <code>{props.name}</code>}
      <span class="what">{props.what}</span>
    </button>
  </li>
)

function countOf({ entries: { length }, total, wanted }: Found): string {
  if (length === 0)
    return `Nothing in the registry is called or described as “${wanted}”. Try a shorter word, or type npx:// and the name of a package.`
  const servers = length === 1 ? '1 server' : `${length} servers`
  return total > MOST ? `${servers} of many. Type more to find fewer.` : servers
}
