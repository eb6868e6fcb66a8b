import { join } from 'node:path'
import type { Log } from '../../src/log.ts'
import type { Settings } from '../settings/index.ts'
import type { ParsedRegistry, RegistryDocument } from './formats/parse-registry.ts'
import type { RegistryTokens } from './registry-tokens.ts'
import { apiSource } from './sources/api-source.ts'
import { builtInSource } from './sources/built-in-source.ts'
import type { Timeouts } from './sources/fetch-page.ts'
import { fileSource } from './sources/file-source.ts'
import { createCache } from './sources/page-cache.ts'
import type { ReadOptions, Source } from './sources/registry-source.ts'
import { urlSource } from './sources/url-source.ts'

/** One command asks for the same document several times. */
const MOMENT_MS = 5_000

/** The registry that the settings name, and what was read from it a moment ago. */
export interface CurrentSource {
  get(): Promise<Source>
  document(options?: ReadOptions): Promise<RegistryDocument>
  /** Whether the source was read a moment ago, so that its document is there without asking. */
  isFresh(source: Source): boolean
  /** The next document is read anew. With a place: what that registry has said is deleted from the disk too. */
  forget(place?: string): Promise<void>
}

export function createCurrentSource(parts: {
  cacheFolder: string
  settings: Settings
  log: Log
  tokens: (() => Promise<RegistryTokens | undefined>) | undefined
  clock: () => number
  timeouts: Timeouts
}): CurrentSource {
  const { settings, log, tokens, clock, timeouts } = parts
  const cache = createCache({ folder: join(parts.cacheFolder, 'registry'), clock })
  let read: { source: Source; at: number; parsed: Promise<ParsedRegistry> } | undefined
  let warned: string | undefined

  async function get(): Promise<Source> {
    const allowPrivate = (await settings.get('allow_private_registry_ip')) ?? false
    const api = await settings.get('registry_api_url')
    if (api) {
      const auth = await settings.get('registry_auth')
      const token = (rejected?: string) => findToken(api, rejected)
      const access = { allowPrivate, token, hasLogin: auth !== undefined, timeouts }
      return apiSource(api, { access, cache, log, clock })
    }
    const url = await settings.get('registry_url')
    if (url) return urlSource(url, { access: { allowPrivate, timeouts }, cache, log })
    const path = await settings.get('local_registry_path')
    return path ? fileSource(path) : builtInSource()
  }

  async function findToken(url: string, rejected?: string): Promise<string | undefined> {
    const auth = await settings.get('registry_auth')
    return auth && (await tokens?.())?.find({ url, auth }, rejected)
  }

  function lately({ place, stamp }: Source) {
    const isSame = read?.source.place === place && read.source.stamp === stamp
    return isSame && clock() - (read?.at ?? 0) < MOMENT_MS ? read : undefined
  }

  /** Once, until it is about something else. */
  function warnOf(place: string, problems: readonly string[]): void {
    const [first] = problems
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    const text = first && `Entries of ${place} are left out for ${count}; the first: ${first}`
    if (text && text !== warned) log.warn(text)
    warned = text
  }

  return {
    get,
    isFresh: source => lately(source) !== undefined,
    async document(options = {}) {
      const source = await get()
      const known = options.refresh ? undefined : lately(source)
      if (known) return (await known.parsed).document
      const mine = { source, at: clock(), parsed: source.read(options) }
      read = mine
      mine.parsed.catch(() => {
        if (read === mine) read = undefined
      })
      const { document, problems } = await mine.parsed
      warnOf(source.place, problems)
      return document
    },
    async forget(place) {
      if (place !== undefined) await cache.forget(place.replace(/\/+$/, ''))
      read = undefined
    },
  }
}
