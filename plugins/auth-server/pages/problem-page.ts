import { placeOf } from '../clients/redirect-uri.ts'
import type { Reply } from '../protocol/reply.ts'
import { html } from './html.ts'
import { pageReply } from './page.ts'

export const START_AGAIN = 'Close this page and start the login again in the program that you came from.'

/** Tells a person why a login does not go on, and what to do. */
export const problemPage = (
  status: number,
  { what, todo }: { what: string; todo: string },
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): Reply =>
  pageReply(
    status,
    { title: 'The login did not work', content: html`<p>${what}</p>\n<p>${todo}</p>` },
    headers,
  )

/** Tells a person why a login does not go on. They decide whether to go back to the program at `url`. */
export const returnPage = (
  status: number,
  { what, url }: { what: string; url: string },
  headers: Readonly<Record<string, string>>,
): Reply =>
  pageReply(
    status,
    {
      title: 'The login did not work',
      content: html`<p>${what}</p>
<p>Close this page, or <a href="${url}" rel="noreferrer">go back to ${placeOf(url)}</a> if that is where you came from.</p>`,
    },
    headers,
  )
