interface Size {
  readonly width: number
  readonly height: number
}

type Reader = (view: DataView<ArrayBuffer>) => Size | undefined

/** Where the image formats write their size, by media type. */
const READERS: Readonly<Record<string, Reader>> = {
  'image/png': view => ({ width: view.getUint32(16), height: view.getUint32(20) }), // IHDR comes first
  'image/gif': view => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }),
  'image/jpeg': readJpeg,
  'image/webp': readWebp,
}

/** The size of an image in pixels, read without decoding it. Undefined where it is not to be found. */
export function imageSize(type: string, bytes: Uint8Array<ArrayBuffer>): Size | undefined {
  try {
    return READERS[type]?.(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  } catch {
    return undefined // too short
  }
}

/** Goes through the segments up to the frame header (ITU-T T.81, B.2.2). */
function readJpeg(view: DataView<ArrayBuffer>): Size | undefined {
  for (let at = 2; view.getUint8(at) === 0xff; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
  }
  return undefined
}

/** RFC 9649: extended, lossless and lossy files write it in three ways. */
function readWebp(view: DataView<ArrayBuffer>): Size | undefined {
  const kind = String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + 12, 4))
  if (kind === 'VP8X') {
    const read = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 65_536 + 1
    return { width: read(24), height: read(27) }
  }
  if (kind === 'VP8L') {
    const bits = view.getUint32(21, true)
    return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
  }
  return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
}
