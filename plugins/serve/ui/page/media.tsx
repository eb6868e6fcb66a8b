import { useEffect, useState } from 'preact/hooks'

/** Types that a browser shows without running anything in them: no SVG. */
const SHOWN = {
  image: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'],
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

/** An image or a sound of a result. Any other type is described, and shown to nobody. */
export function Media(props: { kind: 'image' | 'audio'; type: string; data: string; title?: string }) {
  const { kind, type, data, title = kind === 'image' ? 'Image' : 'Sound' } = props
  const [url, setUrl] = useState<string | undefined>()
  const bytes = decode(data)
  const isShown = SHOWN[kind].includes(type) && bytes !== undefined
  useEffect(() => {
    if (!isShown || !bytes) return
    const made = URL.createObjectURL(new Blob([bytes], { type }))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [data, type])

  const size = bytes === undefined ? 'not Base64' : `${bytes.length} bytes`
  return (
    <figure>
      <figcaption>
        {title}: {type}, {size}
        {!isShown && '. It is not shown.'}
      </figcaption>
      {url && kind === 'image' && <img src={url} alt="From the result of the tool" />}
      {/* biome-ignore lint/a11y/useMediaCaption: a result has no captions */}
      {url && kind === 'audio' && <audio controls src={url} aria-label="Sound from the result of the tool" />}
    </figure>
  )
}

function decode(data: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(data), one => one.charCodeAt(0))
  } catch {
    return undefined
  }
}
