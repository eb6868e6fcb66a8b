import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/** A row that opens to more about it, which is made when it is first opened. */
export function Opening({
  name,
  brief,
  children,
}: {
  name: string
  brief: string
  children: () => ComponentChildren
}) {
  const [wasOpened, setOpened] = useState(false)
  return (
    <details onToggle={() => setOpened(true)}>
      <summary>
        <code>{name}</code>
        <span class="brief">{brief}</span>
      </summary>
      {wasOpened && children()}
    </details>
  )
}

/** A server's description of what it offers. */
export const Description = ({ text = '' }: { text?: string | undefined }) =>
  text.trim() ? <p class="said">{text.trim()}</p> : <p class="soft">It has no description.</p>
