import { type Edit, editMember, rawString } from './edit-raw.ts'
import { uri } from './public-results.ts'

/** One of the lists of MCP, and how its items become those of an endpoint. */
export interface ListKind {
  /** The member of the result. */
  readonly list: string
  /** The capability of a server that has such a list. */
  readonly capability: string
  /** What tells its items apart. */
  readonly key: 'name' | 'uri' | 'uriTemplate'
  /** The item under the name that clients see; raw text. */
  rename(item: string, offer: { server: string; name: string }): string
}

/** Hosts of MCP Apps find the page of a tool by these members of its `_meta`. */
const PAGES = [
  ['_meta', 'ui', 'resourceUri'],
  ['_meta', 'ui/resourceUri'],
]

const setName =
  (name: string): Edit =>
  item =>
    editMember(item, ['name'], () => rawString(name))

const byUri = (key: 'uri' | 'uriTemplate') => ({
  capability: 'resources',
  key,
  rename: (item: string, { server }: { server: string }) => editMember(item, [key], uri(server)),
})

/** By method. */
export const LIST_KINDS: Readonly<Record<string, ListKind>> = {
  'tools/list': {
    list: 'tools',
    capability: 'tools',
    key: 'name',
    rename: (item, { server, name }) =>
      PAGES.reduce((text, path) => editMember(text, path, uri(server)), setName(name)(item)),
  },
  'prompts/list': {
    list: 'prompts',
    capability: 'prompts',
    key: 'name',
    rename: (item, { name }) => setName(name)(item),
  },
  'resources/list': { list: 'resources', ...byUri('uri') },
  'resources/templates/list': { list: 'resourceTemplates', ...byUri('uriTemplate') },
}

/** The lists that a notification says have changed. */
export const CHANGED_LISTS: Readonly<Record<string, readonly string[]>> = {
  'notifications/tools/list_changed': ['tools/list'],
  'notifications/prompts/list_changed': ['prompts/list'],
  'notifications/resources/list_changed': ['resources/list', 'resources/templates/list'],
}
