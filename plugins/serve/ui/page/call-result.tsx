import { useEffect, useRef } from 'preact/hooks'
import type { Content, ToolResult } from '../page-types.d.ts'
import { CopyButton } from './copy-button.tsx'
import { Media } from './media.tsx'

const MOST_SHOWN = 100_000

/** What a tool returned. It is a stranger's: text stays text, and no link can be pressed. */
export const CallResult = ({ result, took }: { result: ToolResult; took: number }) => {
  const { content = [], structuredContent, isError } = result
  const section = useRef<HTMLElement>(null)
  useEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [result])
  return (
    <section ref={section} class={isError ? 'result failed' : 'result'} aria-label="Result">
      <p class="soft" role="status">
        {isError ? 'The tool reports an error' : 'The tool returned'} after {formatTime(took)}.
      </p>
      {content.length === 0 && structuredContent === undefined && <p class="soft">The result is empty.</p>}
      {content
        .filter(block => structuredContent === undefined || !isSame(block, structuredContent))
        .map((block, index) => (
          <Block key={index} block={block} />
        ))}
      {structuredContent !== undefined && (
        <Text title="Structured content" text={JSON.stringify(structuredContent, null, 2)} />
      )}
    </section>
  )
}

function Block({ block }: { block: Content }) {
  switch (block.type) {
    case 'text':
      return <Text text={pretty(String(block.text))} />
    case 'image':
    case 'audio':
      return <Media kind={block.type} type={String(block.mimeType)} data={String(block.data)} />
    case 'resource_link':
      return (
        <figure>
          <figcaption>Link to a resource: {block.title ?? block.name}</figcaption>
          <code class="link">{block.uri}</code>
          <CopyButton text={() => String(block.uri)} label="Copy the address of the resource" title="Copy" />
          {block.description && <p class="soft">{block.description}</p>}
        </figure>
      )
    case 'resource':
      return <Embedded resource={block.resource ?? { uri: '' }} />
    default:
      return <Text title={`Content of the type “${block.type}”`} text={JSON.stringify(block, null, 2)} />
  }
}

function Embedded({
  resource: { uri, mimeType = '', text, blob },
}: {
  resource: NonNullable<Content['resource']>
}) {
  const title = `Resource ${uri}${mimeType && ` (${mimeType})`}`
  if (text !== undefined) return <Text title={title} text={pretty(String(text))} />
  const kind = mimeType.startsWith('audio/') ? 'audio' : 'image'
  return <Media kind={kind} type={mimeType} data={String(blob ?? '')} title={title} />
}

const Text = ({ title, text }: { title?: string; text: string }) => (
  <figure>
    {title && <figcaption>{title}</figcaption>}
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
    {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields */}
    <pre class="output" tabIndex={0} role="group" aria-label={title ?? 'Text'}>
      {text.slice(0, MOST_SHOWN)}
    </pre>
    {text.length > MOST_SHOWN && <p class="soft">The rest is not shown: {text.length} characters in all.</p>}
    <CopyButton text={() => text} label={`Copy ${title ?? 'the text'}`} title="Copy" />
  </figure>
)

/** JSON is easier to read with line breaks. */
function pretty(text: string): string {
  if (!/^\s*[[{]/.test(text) || text.includes('\n')) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Text that repeats the structured content, for older clients (MCP 2025-11-25, tools). */
function isSame(block: Content, structured: unknown): boolean {
  if (block.type !== 'text') return false
  try {
    return JSON.stringify(JSON.parse(String(block.text))) === JSON.stringify(structured)
  } catch {
    return false
  }
}

const formatTime = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
