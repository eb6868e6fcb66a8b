import { useEffect, useMemo, useState } from 'preact/hooks'
import { fromBase64 } from './from-base64.ts'
import { imageSize } from './image-size.ts'

type Kind = 'image' | 'audio'

/** Types that a browser shows without running anything in them: no SVG. */
const SHOWN: Readonly<Record<Kind, readonly string[]>> = {
  image: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
  audio: [
    'audio/wav',
    'audio/x-wav',
    'audio/mpeg',
    'audio/mp3',
    'audio/ogg',
    'audio/webm',
    'audio/flac',
    'audio/aac',
    'audio/mp4',
  ],
}
/** A small file may unfold to an image that takes all of the memory: 4 bytes for each pixel. */
const MOST_PIXELS = 40_000_000

/** As what a type is shown, if it is. */
export const kindOfMedia = (type: string): Kind | undefined =>
  (['image', 'audio'] as const).find(kind => SHOWN[kind].includes(type))

/** An image or a sound of a result. Any other type is described, and not shown. */
export function Media(props: { kind: Kind; type: string; data: string; title?: string }) {
  const { kind, type, data, title = kind === 'image' ? 'Image' : 'Sound' } = props
  const [url, setUrl] = useState<string | undefined>()
  const bytes = useMemo(() => fromBase64(data), [data])
  const problem = problemOf(kind, type, bytes)
  useEffect(() => {
    if (problem || !bytes) return
    const made = URL.createObjectURL(new Blob([bytes], { type }))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [bytes, type])

  const size = bytes === undefined ? 'not Base64' : `${bytes.length.toLocaleString()} bytes`
  return (
    <figure>
      <figcaption>
        {title}: {type}, {size}
        {problem && `. ${problem}`}
      </figcaption>
      {url && kind === 'image' && <img src={url} alt="From the result of the server" />}
      {url && kind === 'audio' && <Sound url={url} />}
    </figure>
  )
}

const Sound = ({ url }: { url: string }) => (
  // biome-ignore lint/a11y/useMediaCaption: a result has no captions
  <audio controls src={url} aria-label="Sound from the result of the server" />
)

/** Why it is not shown. */
function problemOf(kind: Kind, type: string, bytes: Uint8Array<ArrayBuffer> | undefined): string | undefined {
  if (!bytes || !SHOWN[kind].includes(type)) return 'It is not shown.'
  if (kind === 'audio') return undefined
  const size = imageSize(type, bytes)
  if (!size) return 'It is not shown: its size cannot be read.'
  const { width, height } = size
  return width * height > MOST_PIXELS
    ? `It is not shown: ${width} × ${height} pixels are too many.`
    : undefined
}
