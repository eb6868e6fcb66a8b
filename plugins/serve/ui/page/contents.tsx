import { useMemo } from 'preact/hooks'
import type { ResourceContents } from '../page-types.d.ts'
import { fromBase64 } from './from-base64.ts'
import { kindOfMedia, Media } from './media.tsx'
import { pretty } from './pretty.ts'
import { saveBytes } from './save-file.ts'
import { TextOutput } from './text-output.tsx'

/** What a resource holds: text, an image or a sound, or bytes to save. */
export function Contents({ contents: { uri, mimeType = '', text, blob } }: { contents: ResourceContents }) {
  const shown = useMemo(() => text !== undefined && pretty(String(text)), [text])
  const title = `Resource ${uri}${mimeType && ` (${mimeType})`}`
  if (shown !== false) return <TextOutput {...{ title, text: shown }} />
  const data = String(blob ?? '')
  const kind = kindOfMedia(mimeType)
  if (kind) return <Media {...{ kind, type: mimeType, data, title }} />
  return <Binary {...{ title, data, name: fileName(uri) }} />
}

function Binary({ title, data, name }: { title: string; data: string; name: string }) {
  const bytes = useMemo(() => fromBase64(data), [data])
  if (!bytes) return <p class="problem">{title}: what the server sent is not Base64.</p>
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <p class="soft">{bytes.length.toLocaleString()} bytes</p>
      <button type="button" class="small" onClick={() => saveBytes(name, [bytes])}>
        Download
      </button>
    </figure>
  )
}

/** The last part of a URI, as a name that every file system takes. */
const fileName = (uri: string): string =>
  uri
    .replace(/[?#].*$/s, '')
    .split('/')
    .at(-1)
    ?.replace(/[^\w.-]/g, '_')
    .replace(/^\.+/, '')
    .slice(-80) || 'resource'
