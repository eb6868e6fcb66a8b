import { render } from 'preact'
import { CopyButton } from './copy-button.tsx'
import { element } from './element.js'

/** @returns the button as an element, for what is no component. */
export function copyUrlButton(url: string): HTMLElement {
  const place = element('span')
  render(<CopyButton text={() => url} label="Copy the URL" />, place)
  return place
}
