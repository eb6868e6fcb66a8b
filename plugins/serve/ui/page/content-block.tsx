import { useMemo } from 'preact/hooks'
import type { Content, ResourceContents } from '../page-types.d.ts'
import { Contents } from './contents.tsx'
import { CopyButton } from './copy-button.tsx'
import { Media } from './media.tsx'
import { pretty } from './pretty.ts'
import { TextOutput } from './text-output.tsx'

/** One part of what a server returned. It is a stranger's: text stays text, and no link can be pressed. */
export function ContentBlock({ block }: { block: Content }) {
  switch (block.type) {
    case 'text':
      return <Text text={String(block.text)} />
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
      return <Contents contents={block.resource ?? ({ uri: '' } satisfies ResourceContents)} />
    default:
      return (
        <TextOutput title={`Content of the type “${block.type}”`} text={JSON.stringify(block, null, 2)} />
      )
  }
}

const Text = ({ text }: { text: string }) => {
  const shown = useMemo(() => pretty(text), [text])
  return <TextOutput text={shown} />
}
