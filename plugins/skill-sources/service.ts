import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isFailure } from '../../src/errors.ts'
import { checkTree, contentDigest, listFiles, readSkill, type SkillFile } from '../skill-artifacts/index.ts'
import { failures } from './failures.ts'
import { type FetchSkillDeps, fetchSkill, type UncheckedSkill } from './fetch-skill.ts'
import type { FetchedSkill } from './fetched-skill.ts'

/** Fetches skills by registry name, OCI artifact, Git repository or local build. */
export interface SkillSources {
  /**
   * Finds and fetches a skill, and checks its files and signature. The caller decides whether it accepts an
   * unsigned skill.
   * `reference` is what the user typed, or a `resolvedReference`, which always gets the same bytes.
   * The staging folder is made inside `staging`, and removed on failure. Fails with the codes of this
   * plugin; an invalid signature fails with `skill_signature_invalid` and never counts as unsigned.
   */
  fetch(
    reference: string,
    options: {
      readonly staging: string
      /**
       * Whether the user typed exactly this reference. Only then may their token for its Git host be sent
       * there. False for references from a registry, another skill or a lock file.
       */
      readonly typed: boolean
      /** The tag of a reference without one. */
      readonly version?: string | undefined
      readonly signal?: AbortSignal | undefined
      /** Called with what is being done, in a few words. */
      readonly progress?: ((what: string) => void) | undefined
    },
  ): Promise<FetchedSkill>
  /** Returns the text and the files of the skill that the user typed. Installs nothing. */
  preview(
    reference: string,
    options?: {
      readonly signal?: AbortSignal | undefined
      readonly progress?: ((what: string) => void) | undefined
    },
  ): Promise<SkillContent>
}

/** The content of a skill, as a preview shows it. */
export interface SkillContent {
  readonly name: string
  readonly description: string
  readonly version?: string
  readonly license?: string
  /** The text of SKILL.md after the frontmatter. */
  readonly body: string
  /** Sorted by path. */
  readonly files: readonly SkillFile[]
}

export interface SkillSourcesDeps extends Omit<FetchSkillDeps, 'timeouts'> {
  /** The folder for the staging folders of previews. */
  readonly scratch: string
  readonly timeouts?: FetchSkillDeps['timeouts']
}

const TIMEOUTS = { gitMs: 2 * 60_000, ociMs: 5 * 60_000 }

/** Makes the service that fetches skills into staging folders. It never runs anything of a skill. */
export function createSkillSources(deps: SkillSourcesDeps): SkillSources {
  const withTimeouts: FetchSkillDeps = { ...deps, timeouts: deps.timeouts ?? TIMEOUTS }

  /** Runs `work` with two new folders: `target`, which is kept on success, and `scratch`, which is always removed. */
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

/** Checks the fetched files and reads SKILL.md. */
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
