import type { ParsedRegistry } from '../formats/parse-registry.ts'
import type { ServerJson } from '../formats/server-json.ts'
import type { SkillEntry } from '../formats/skill-entry.ts'

export type SourceKind = 'default' | 'file' | 'url' | 'api'

export interface ReadOptions {
  /** Ask the source even if what is cached is fresh. */
  readonly refresh?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** Where the registry is read from. */
export interface Source {
  readonly kind: SourceKind
  /** The URL or path; for the built-in one `built-in catalogue`. */
  readonly place: string
  /** Another one when the content may be another one, where that is cheap to know. */
  readonly stamp?: string
  /** All that it lists; of an API source without skills. */
  read(options?: ReadOptions): Promise<ParsedRegistry>
  /** One server by its exact name, where that is cheaper than reading everything. */
  find?(name: string, options?: ReadOptions): Promise<ServerJson | undefined>
  /** What the source itself finds for some words. */
  search?(query: string, options?: ReadOptions): Promise<readonly ServerJson[]>
  skills?(options?: ReadOptions): Promise<readonly SkillEntry[]>
}
