import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isFailure } from '../../src/errors.ts'
import { checkTree, contentDigest, listFiles, readSkill, type SkillFile } from '../skill-artifacts/index.ts'
import { failures } from './failures.ts'
import { type FetchSkillDeps, fetchSkill, type UncheckedSkill } from './fetch-skill.ts'
import type { FetchedSkill } from './fetched-skill.ts'

/** Where skills come from: registry names, OCI artifacts, git repositories, local builds. */
export interface SkillSources {
  /**
   * Finds, fetches and checks a skill, and whose it is; the caller decides whether an unsigned one will do.
   * `reference` is what the user typed, or a `resolvedReference`, which always gets the same bytes.
   * The staging folder is made inside `staging`, and removed here when anything fails.
   * Fails with the codes of this plugin; a signature that is there and proves nothing is
   * `skill_signature_invalid`, never the same as none.
   */
  fetch(
    reference: string,
    options: {
      readonly staging: string
      /**
       * The user typed this very reference, so their token for its git host may be sent there. Never for what
       * a registry, a skill that needs another, or a lock file says.
       */
      readonly typed: boolean
      /** The tag wanted, for a reference that has none. */
      readonly version?: string | undefined
      readonly signal?: AbortSignal | undefined
      /** Told in a few words what is being done. */
      readonly progress?: ((what: string) => void) | undefined
    },
  ): Promise<FetchedSkill>
  /** The body and the list of files of what the user typed, the same way for every source; nothing is installed. */
  preview(
    reference: string,
    options?: {
      readonly signal?: AbortSignal | undefined
      readonly progress?: ((what: string) => void) | undefined
    },
  ): Promise<SkillContent>
}

/** What a preview shows. */
export interface SkillContent {
  readonly name: string
  readonly description: string
  readonly version?: string
  readonly license?: string
  /** SKILL.md behind its frontmatter. */
  readonly body: string
  /** Sorted by path. */
  readonly files: readonly SkillFile[]
}

export interface SkillSourcesDeps extends Omit<FetchSkillDeps, 'timeouts'> {
  /** Where previews are unpacked for a moment. */
  readonly scratch: string
  readonly timeouts?: FetchSkillDeps['timeouts']
}

const TIMEOUTS = { gitMs: 2 * 60_000, ociMs: 5 * 60_000 }

/** Skills from wherever they are published, fetched into folders of their own; nothing of them is ever run. */
export function createSkillSources(deps: SkillSourcesDeps): SkillSources {
  const withTimeouts: FetchSkillDeps = { ...deps, timeouts: deps.timeouts ?? TIMEOUTS }

  /** Works in two new folders; `target` stays when all went well, `scratch` never. */
  async function inFolders<T>(
    parent: string,
    work: (folders: { target: string; scratch: string }) => Promise<T>,
  ): Promise<T> {
    await mkdir(parent, { recursive: true, mode: 0o700 })
    const target = await mkdtemp(join(parent, 'skill-'))
    const scratch = await mkdtemp(join(parent, 'scratch-'))
    try {
      return await work({ target, scratch })
    } catch (error) {
      await rm(target, { recursive: true, force: true })
      throw error
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  }

  return {
    fetch: (reference, { staging, typed, version, signal, progress }) =>
      inFolders(staging, async folders => {
        const call = { reference, version, typed, preview: false, signal, progress, ...folders }
        const { name, ...got } = await fetchSkill(withTimeouts, call)
        const { manifest } = await readChecked(folders.target, got, name)
        signal?.throwIfAborted()
        return {
          folder: folders.target,
          manifest,
          ...got,
          contentDigest: await contentDigest(folders.target),
        }
      }),

    preview: (reference, { signal, progress } = {}) =>
      inFolders(deps.scratch, async folders => {
        const call = {
          reference,
          version: undefined,
          typed: true,
          preview: true,
          signal,
          progress,
          ...folders,
        }
        const { name, ...got } = await fetchSkill(withTimeouts, call)
        const { manifest, body } = await readChecked(folders.target, got, name)
        const files = await listFiles(folders.target)
        await rm(folders.target, { recursive: true, force: true })
        const { description, version, license } = manifest
        return {
          name: manifest.name,
          description,
          ...(version === undefined ? {} : { version }),
          ...(license === undefined ? {} : { license }),
          body,
          files,
        }
      }),
  }
}

/** Looks at what was fetched, and reads its SKILL.md. */
async function readChecked(folder: string, { reference }: UncheckedSkill, name: string | undefined) {
  const skill = await readSkill(folder).catch(error => {
    if (!isFailure(error, 'skill_missing')) throw error
    throw failures.skill_content_refused({ reference, problem: 'it has no SKILL.md' }, { cause: error })
  })
  await checkTree(folder)
  if (name === undefined || skill.manifest.name === name) return skill
  const problem = `it calls itself "${name}", and its SKILL.md "${skill.manifest.name}"`
  throw failures.skill_content_refused({ reference, problem })
}
