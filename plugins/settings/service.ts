import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { failures as core } from '../../src/errors.ts'
import { readFileIfThere } from '../../src/lib/atomic-file.ts'
import { describeJsonError } from '../../src/lib/json-error.ts'
import { object } from '../../src/lib/schema.ts'
import type { Paths } from '../../src/paths.ts'
import { findErrors } from '../../src/schema-check.ts'
import { withFileLock } from '../../src/with-file-lock.ts'
import { failures } from './failures.ts'
import { loadConf } from './load-conf.ts'
import { type SettingsDocument, schemas } from './settings-document.ts'

/** A change of settings: new values; `undefined` takes a member out. */
export type SettingsChange = { [K in keyof SettingsDocument]?: SettingsDocument[K] | undefined }

export interface Settings {
  readonly path: string
  /** The member's value, read anew; undefined when it is not set. Fails with `invalid_file` if it has a wrong shape. */
  get<K extends keyof SettingsDocument>(key: K): Promise<SettingsDocument[K] | undefined>
  /**
   * Reads, decides and writes as one step: of two writers none loses anything, and a kill leaves the
   * old file or the new one. What `decide` throws leaves the file as it is.
   */
  change(decide: (current: SettingsReader) => SettingsChange): Promise<void>
}

export type SettingsReader = <K extends keyof SettingsDocument>(key: K) => SettingsDocument[K] | undefined

const LOCK_SECONDS = 5

/** Settings that a user changes rarely, in `config.json` of the config folder. */
export function createSettings({
  paths,
  clock = Date.now,
}: {
  paths: Paths
  clock?: () => number
}): Settings {
  const path = join(paths.config, 'config.json')
  const lockPath = `${path}.lock`

  const locked = <T>(work: () => Promise<T>): Promise<T> =>
    withFileLock(lockPath, work, { seconds: LOCK_SECONDS })

  /** Returns the whole document; undefined without a file. The caller holds the lock. A file without a JSON object is moved aside. */
  async function readOrSetAside(): Promise<Record<string, unknown> | undefined> {
    const { document, problem } = parse(await readFileIfThere(path))
    if (problem === undefined) return document
    const aside = `${path}.unreadable-${new Date(clock()).toISOString().replace(/[:.]/g, '-')}`
    await rename(path, aside)
    throw failures.settings_unreadable({ path, aside, problem })
  }

  const readerOf =
    (document: Record<string, unknown>): SettingsReader =>
    key => {
      const value = document[key]
      if (value === undefined || value === null) return undefined
      const problem = findErrors(object({ [key]: schemas[key] }), { [key]: value })
      if (problem !== undefined) throw core.invalid_file({ path, problem })
      return value as SettingsDocument[typeof key]
    }

  return {
    path,
    async get(key) {
      // Almost every command reads a setting and most users have none, so the library is not loaded for them.
      const parsed = parse(await readFileIfThere(path))
      const document = parsed.problem === undefined ? parsed.document : await locked(readOrSetAside)
      return document && readerOf(document)(key)
    },
    change: decide =>
      locked(async () => {
        const document = (await readOrSetAside()) ?? {}
        const change = decide(readerOf(document))
        const next = Object.fromEntries(
          Object.entries({ ...document, ...change }).filter(([, value]) => value !== undefined),
        )
        const Conf = await loadConf()
        const conf = new Conf<Record<string, unknown>>({
          cwd: paths.config,
          configName: 'config',
          configFileMode: 0o600,
          accessPropertiesByDotNotation: false,
          serialize: value => `${JSON.stringify(value, null, 2)}\n`,
        })
        conf.store = next
      }),
  }
}

interface Parsed {
  readonly document?: Record<string, unknown>
  readonly problem?: string
}

function parse(text: string | undefined): Parsed {
  if (text === undefined) return {}
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { document: value as Record<string, unknown> }
    }
    return { problem: 'it holds no JSON object' }
  } catch {
    return { problem: describeJsonError(text) }
  }
}
