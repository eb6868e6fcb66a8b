import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { BegunLogin, Workload } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { messageOf } from './message-of.ts'
import type { Store } from './store.ts'

interface Login {
  readonly text: string
  readonly isUnderway: boolean
  /** Where the person has to go. */
  readonly place?: { readonly url: string; readonly code: string | undefined }
}

const IDLE: Login = { text: 'The login opens in another tab.', isUnderway: false }

/** Whether a person has to log in to the remote server of this workload. */
const needsLogin = ({ status, remote }: Workload): boolean =>
  remote === true && (status === 'unauthenticated' || status === 'auth_retrying')

/** Offers to log in to the remote server of a workload, in another tab. */
export function LoginNotice({ api, store, workload }: { api: Api; store: Store; workload: Workload }) {
  const { name } = workload
  const path = `/api/v1beta/workloads/${encodeURIComponent(name)}/login`
  const isNeeded = needsLogin(workload)
  const [login, setLogin] = useState(IDLE)
  const node = useRef<HTMLDivElement>(null)
  /** Counts the logins, so that one that was cancelled opens nothing. */
  const attempt = useRef(0)
  const ended = store.loginEndOf(name)
  const [seen, setSeen] = useState(ended)

  if (ended && ended !== seen) {
    setSeen(ended)
    const text = ended.problem ?? 'You are logged in. The server will be reached in a moment.'
    setLogin({ text, isUnderway: false })
  }
  const losesFocus = !isNeeded && node.current?.contains(document.activeElement) === true
  useLayoutEffect(() => {
    if (losesFocus) document.querySelector<HTMLElement>('#pane h2')?.focus()
    if (!isNeeded) setLogin(IDLE)
  }, [isNeeded])
  if (!isNeeded) return null

  const fail = (error: unknown) => setLogin({ text: messageOf(error), isUnderway: false })

  async function begin() {
    const mine = ++attempt.current
    setLogin({ text: 'Asking where to log in…', isUnderway: true })
    const { state, url = '', user_code: code }: BegunLogin = await api.send('POST', path)
    if (mine !== attempt.current) return
    if (state === 'done') return setLogin({ text: 'Somebody else has logged in.', isUnderway: false })
    if (!isWebAddress(url)) throw new Error('The server named no address that a browser may open.')
    setLogin({ text: 'Waiting for you to log in, in another tab.', isUnderway: true, place: { url, code } })
    // A browser may keep the tab from opening, so there is a link as well.
    window.open(url, '_blank', 'noopener,noreferrer')
  }

  async function cancel() {
    attempt.current++
    setLogin(IDLE)
    await api.send('DELETE', path)
  }

  return (
    <div class="login" ref={node}>
      <div>
        <p role="status">{login.text}</p>
        {login.place && <LoginPlace {...login.place} />}
      </div>
      <button
        type="button"
        class={login.isUnderway ? '' : 'primary'}
        onClick={() => (login.isUnderway ? cancel() : begin()).catch(fail)}
      >
        {login.isUnderway ? 'Cancel' : 'Log in'}
      </button>
    </div>
  )
}

const LoginPlace = ({ url, code }: NonNullable<Login['place']>) => (
  <div class="place">
    <p>
      <a href={url} target="_blank" rel="noopener noreferrer">
        Open the login page
      </a>
    </p>
    {code && (
      <p>
        Type this code there: <code>{code}</code>
      </p>
    )}
  </div>
)

/** What a server names is opened only if it is a page. */
function isWebAddress(text: string): boolean {
  const protocol = URL.parse(text)?.protocol
  return protocol === 'https:' || protocol === 'http:'
}
