import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { ToolResult } from '../page-types.d.ts'
import { ContentBlock } from './content-block.tsx'
import { isJsonOf } from './pretty.ts'
import { TextOutput } from './text-output.tsx'

/** A server may return any number. */
const MOST_SHOWN = 50

/** What a tool returned. */
export const CallResult = ({ result, took }: { result: ToolResult; took: number }) => {
  const { content = [], structuredContent, isError } = result
  const section = useRef<HTMLElement>(null)
  useEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [result])
  const structured = useMemo(() => JSON.stringify(structuredContent, null, 2), [result])
  // Text may repeat the structured content, for older clients (MCP 2025-11-25, tools).
  const blocks = useMemo(
    () =>
      content.filter(
        ({ type, text }) =>
          structuredContent === undefined || type !== 'text' || !isJsonOf(String(text), structuredContent),
      ),
    [result],
  )
  return (
    <section ref={section} class={isError ? 'result failed' : 'result'} aria-label="Result">
      <p class="soft" role="status">
        {isError ? 'The tool reports an error' : 'The tool returned'} after {formatTime(took)}.
      </p>
      {content.length === 0 && structuredContent === undefined && <p class="soft">The result is empty.</p>}
      {blocks.slice(0, MOST_SHOWN).map((block, index) => (
        <ContentBlock key={index} block={block} />
      ))}
      {blocks.length > MOST_SHOWN && (
        <p class="soft">{blocks.length - MOST_SHOWN} more parts of the result are not shown.</p>
      )}
      {structured !== undefined && <TextOutput title="Structured content" text={structured} />}
    </section>
  )
}

const formatTime = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
