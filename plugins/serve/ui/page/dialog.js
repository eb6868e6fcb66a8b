/** @import { Child } from '../page-types.d.ts' */
import { element } from './element.js'

let opened = 0

/**
 * Shows a modal dialog: the browser keeps the focus in it, gives it back afterwards, and closes it
 * with Escape. It goes away when it closes.
 * @param {object} options
 * @param {string} options.title
 * @param {string} [options.kind]  a class
 * @param {readonly Child[]} options.content
 * @param {() => void} [options.onClose]
 */
export function openDialog({ title, kind = '', content, onClose }) {
  const id = `dialog-title-${++opened}` // a question may stand above another dialog
  const heading = element('h2', { id }, title)
  const close = () => void dialog.close()
  /** @type {HTMLDialogElement} */
  const dialog = element(
    'dialog',
    { class: kind, 'aria-labelledby': id },
    element(
      'div',
      { class: 'dialog-head' },
      heading,
      element('button', { type: 'button', class: 'quiet', 'aria-label': 'Close', onclick: close }, '×'),
    ),
    ...content,
  )
  dialog.addEventListener('close', () => {
    dialog.remove()
    onClose?.()
  })
  document.body.append(dialog)
  dialog.showModal()
  return { dialog, heading, close }
}

/**
 * Asks before something is done that cannot be taken back.
 * @param {object} question
 * @param {string} question.title
 * @param {string} question.text
 * @param {readonly Child[]} [question.more]  stands below the text
 * @param {string} question.action  the word on the button
 * @param {boolean} [question.danger]
 * @returns {Promise<boolean>}
 */
export function confirm({ title, text, more = [], action, danger = false }) {
  const { promise, resolve } = Promise.withResolvers()
  /** @param {boolean} answer */
  const decide = answer => {
    resolve(answer)
    close()
  }
  const no = element('button', { type: 'button', onclick: () => decide(false) }, 'Cancel')
  const yes = element(
    'button',
    { type: 'button', class: danger ? 'danger' : 'primary', onclick: () => decide(true) },
    action,
  )
  const { close } = openDialog({
    title,
    content: [element('p', {}, text), ...more, element('div', { class: 'buttons' }, no, yes)],
    onClose: () => resolve(false),
  })
  no.focus()
  return promise
}

/** What is asked for, and where it is found. */
const TOKENS = {
  login: {
    label: 'Access token',
    note: 'This server requires a login. Paste an access token of its identity provider; it stays in this page and is gone when you close it.',
  },
  caller: {
    label: 'Caller token',
    note: 'This server requires its caller token. “keelson config get-caller-token” names the file that holds it. The token stays in this tab and is gone when you close it.',
  },
}

/**
 * Asks for a token. It is handed on and kept nowhere here.
 * @param {import('./api.js').TokenKind} kind
 * @returns {Promise<string | undefined>}
 */
export function askToken(kind) {
  const { label, note } = TOKENS[kind]
  const { promise, resolve } = Promise.withResolvers()
  const field = element('input', {
    id: 'token',
    type: 'password',
    autocomplete: 'off',
    required: true,
    'aria-describedby': 'token-note',
  })
  /** @param {Event} event */
  const submit = event => {
    event.preventDefault()
    resolve(field.value.trim() || undefined)
    close()
  }
  const { close } = openDialog({
    title: 'Who are you?',
    content: [
      element(
        'form',
        { onsubmit: submit },
        element('p', { id: 'token-note' }, note),
        element('label', { for: 'token' }, label),
        field,
        element('div', { class: 'buttons' }, element('button', { class: 'primary' }, 'Go on')),
      ),
    ],
    onClose: () => resolve(undefined),
  })
  field.focus()
  return promise
}
