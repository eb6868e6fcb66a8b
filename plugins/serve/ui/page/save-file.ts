import { plainText } from './plain-text.ts'

/** Saves bytes under a name as the browser saves downloads. */
export function saveBytes(name: string, parts: BlobPart[], type = 'application/octet-stream'): void {
  const url = URL.createObjectURL(new Blob(parts, { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

/** Saves a text, without what would steer the terminal that shows it. */
export const saveText = (name: string, parts: readonly string[]): void =>
  saveBytes(name, parts.map(plainText), 'text/plain')
