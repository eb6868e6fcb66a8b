import { type ComponentChildren, render } from 'preact'
import { useFocus } from './use-focus.ts'

export interface Dialog {
  close(): void
  retitle(title: string): void
}

let opened = 0

/**
 * Shows a modal dialog: the browser keeps the focus in it, gives it back afterwards, and closes it with Escape. It goes
 * away when it closes. `kind` is a class.
 */
export function openDialog({
  title,
  kind = '',
  content,
  onClose,
}: {
  title: string
  kind?: string
  content: (dialog: Dialog) => ComponentChildren
  onClose?: () => void
}): void {
  const id = `dialog-title-${++opened}` // a question may stand above another dialog
  const node = document.createElement('dialog')
  const close = () => node.close()
  const body = content({ close, retitle: show })
  function show(heading: string) {
    render(
      <>
        <div class="dialog-head">
          <h2 id={id}>{heading}</h2>
          <button type="button" class="quiet" aria-label="Close" onClick={close}>
            ×
          </button>
        </div>
        {body}
      </>,
      node,
    )
  }
  node.className = kind
  node.setAttribute('aria-labelledby', id)
  node.addEventListener('close', () => {
    render(null, node)
    node.remove()
    onClose?.()
  })
  document.body.append(node)
  node.showModal()
  show(title)
}

interface Question {
  readonly title: string
  readonly text: string
  /** Stands below the text. */
  readonly more?: ComponentChildren
  /** The word on the button. */
  readonly action: string
  readonly danger?: boolean
}

/** Asks before something is done that cannot be taken back. */
export function confirm({ title, ...question }: Question): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  openDialog({
    title,
    content: ({ close }) => (
      <Confirmation
        {...question}
        decide={answer => {
          resolve(answer)
          close()
        }}
      />
    ),
    onClose: () => resolve(false),
  })
  return promise
}

function Confirmation({
  text,
  more,
  action,
  danger = false,
  decide,
}: Omit<Question, 'title'> & { decide: (answer: boolean) => void }) {
  const cancel = useFocus<HTMLButtonElement>()
  return (
    <>
      <p>{text}</p>
      {more}
      <div class="buttons">
        <button ref={cancel} type="button" onClick={() => decide(false)}>
          Cancel
        </button>
        <button type="button" class={danger ? 'danger' : 'primary'} onClick={() => decide(true)}>
          {action}
        </button>
      </div>
    </>
  )
}
