/** @import { Child } from '../page-types.d.ts' */
import { plainText } from './plain-text.ts'

/**
 * Makes an element. A function is a listener (`onclick`), true an empty attribute, false or undefined
 * none; strings among the children become text and never markup.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | undefined | ((event: Event) => unknown)>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name.slice(2), value)
    else if (value === true) made.setAttribute(name, '')
    else if (value !== false && value !== undefined) made.setAttribute(name, plainText(value))
  }
  made.append(...toNodes(children))
  return made
}

/**
 * Puts other children into an element.
 * @param {Element} parent
 * @param {...Child} children
 */
export const fill = (parent, ...children) => parent.replaceChildren(...toNodes(children))

/** @param {readonly Child[]} children */
const toNodes = children =>
  children
    .filter(child => child !== false && child !== undefined)
    .map(child => (typeof child === 'string' ? document.createTextNode(plainText(child)) : child))
