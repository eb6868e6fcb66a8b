import { CopyButton } from './copy-button.tsx'
import { saveText } from './save-file.ts'

const MOST_SHOWN = 100_000

/** A text of a server. Of a very long one the beginning is shown, and all of it can be copied or saved. */
export const TextOutput = ({ title, text }: { title?: string; text: string }) => (
  <figure>
    {title && <figcaption>{title}</figcaption>}
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
    {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields */}
    <pre class="output" tabIndex={0} role="group" aria-label={title ?? 'Text'}>
      {text.slice(0, MOST_SHOWN)}
    </pre>
    {text.length > MOST_SHOWN && (
      <p class="soft">
        The first {MOST_SHOWN.toLocaleString()} of {text.length.toLocaleString()} characters are shown.
      </p>
    )}
    <div class="call-buttons">
      <CopyButton text={() => text} label={`Copy ${title ?? 'the text'}`} title="Copy" />
      {text.length > MOST_SHOWN && (
        <button type="button" class="small" onClick={() => saveText('result.txt', [text])}>
          Download
        </button>
      )}
    </div>
  </figure>
)
