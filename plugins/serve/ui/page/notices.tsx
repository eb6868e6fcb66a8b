import { render } from 'preact'
import { byId } from './by-id.ts'
import { messageOf } from './message-of.ts'

/** Tells people who do not see the page what has changed on it. */
export function announce(text: string): void {
  byId('announcer').textContent = text
}

/** Shows what went wrong, once, until somebody has read it. */
export function showProblem(error: unknown): void {
  const text = messageOf(error)
  const notices = byId('notices')
  if ([...notices.querySelectorAll('p')].some(one => one.textContent === text)) return
  const place = document.createElement('div')
  const close = () => {
    render(null, place)
    place.remove()
  }
  notices.append(place)
  render(<Notice {...{ text, close }} />, place)
}

const Notice = ({ text, close }: { text: string; close: () => void }) => (
  <div class="notice" role="alert">
    <p>{text}</p>
    <button type="button" class="quiet" onClick={close}>
      Dismiss
    </button>
  </div>
)
