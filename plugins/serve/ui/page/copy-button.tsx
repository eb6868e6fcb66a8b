import { useState } from 'preact/hooks'
import { announce, showProblem } from './notices.tsx'

const SHOWN_MS = 2000

/** Copies what `text` returns when it is pressed. */
export function CopyButton({
  text,
  label,
  title = 'Copy',
}: {
  text: () => string
  label: string
  title?: string
}) {
  const [isCopied, setCopied] = useState(false)

  async function copy() {
    try {
      await navigator.clipboard.writeText(text())
    } catch {
      return showProblem('The browser does not let this page copy; select the text instead.')
    }
    setCopied(true)
    announce('Copied')
    setTimeout(() => setCopied(false), SHOWN_MS)
  }

  return (
    <button type="button" class="small" aria-label={isCopied ? undefined : label} onClick={copy}>
      {isCopied ? 'Copied' : title}
    </button>
  )
}
