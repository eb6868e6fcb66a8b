import { createHash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { contentDigest } from '../../plugins/skill-artifacts/format/content-digest.ts'
import type { FetchedSkill, SkillSigner, SkillSources } from '../../plugins/skill-sources/index.ts'
import { Failure } from '../../src/errors.ts'

/** A skill as a test publishes it. */
export interface PublishedSkill {
  readonly name: string
  readonly description?: string
  readonly version?: string
  readonly tools?: readonly string[]
  readonly requires?: readonly string[]
  readonly metadata?: Readonly<Record<string, string>>
  /** Files besides SKILL.md; those that begin with `#!` may be run. */
  readonly files?: Readonly<Record<string, string>>
  /** Makes it another content. */
  readonly body?: string
  /** null: it is not signed. */
  readonly signer?: SkillSigner | null
  /** null: a local build, which nothing outside of this machine can name. */
  readonly resolvedReference?: string | null
}

export const ALICE: SkillSigner = {
  signerIdentity: 'https://github.com/alice/skills/.github/workflows/release.yml@refs/tags/v1',
  certIssuer: 'https://token.actions.githubusercontent.com',
  repositoryUri: 'https://github.com/alice/skills',
  repositoryRef: 'refs/tags/v1',
  runnerEnvironment: 'github-hosted',
}

/** What is published, kept in a folder, so that several processes have the same. */
export interface Publisher {
  /** Publishes it under a reference, and for good under its digest. Answers the digest. */
  publish(reference: string, skill: PublishedSkill): Promise<string>
  /** The reference answers with this failure from now on. */
  fail(reference: string, status: number, code: string): Promise<void>
}

interface Stored {
  readonly skill?: PublishedSkill
  readonly digest?: string
  readonly failure?: { status: number; code: string }
}

const fileOf = (folder: string, reference: string) =>
  join(folder, `${createHash('sha256').update(reference).digest('hex')}.json`)

export function createPublisher(folder: string): Publisher {
  const store = async (reference: string, stored: Stored) => {
    await mkdir(folder, { recursive: true })
    await writeFile(fileOf(folder, reference), JSON.stringify(stored))
  }
  return {
    async publish(reference, skill) {
      const digest = `sha256:${createHash('sha256').update(JSON.stringify(skill)).digest('hex')}`
      await store(reference, { skill, digest })
      await store(pinnedTo(reference, digest), { skill, digest })
      return digest
    },
    fail: (reference, status, code) => store(reference, { failure: { status, code } }),
  }
}

const pinnedTo = (reference: string, digest: string) =>
  `${reference.includes('/') ? reference.replace(/:[^/:]*$/, '') : `registry.test/skills/${reference}`}@${digest}`

/** Fetches what a publisher has put into a folder. */
export function createFakeSources(folder: string): SkillSources & { readonly fetched: readonly string[] } {
  const fetched: string[] = []
  return {
    fetched,
    async fetch(reference, { staging, progress }): Promise<FetchedSkill> {
      fetched.push(reference)
      progress?.(`Fetching ${reference}`)
      const text = await readFile(fileOf(folder, reference), 'utf8').catch(() => '{}')
      const { skill, digest, failure } = JSON.parse(text) as Stored
      if (failure) throw new Failure(failure.code, { text: `${reference} fails.`, status: failure.status })
      if (!skill || !digest)
        throw new Failure('skill_source_missing', { text: `There is no ${reference}.`, status: 404 })
      const { signer = ALICE, resolvedReference } = skill
      const target = await mkdtemp(join(staging, 'skill-'))
      await writeSkill(target, skill)
      return {
        folder: target,
        manifest: {
          name: skill.name,
          description: skill.description ?? `Does what ${skill.name} does.`,
          ...(skill.version ? { version: skill.version } : {}),
          allowedTools: skill.tools ?? [],
          metadata: skill.metadata ?? {},
          requires: skill.requires ?? [],
        },
        reference: reference.includes('/') ? reference : `registry.test/skills/${reference}:latest`,
        digest,
        ...(resolvedReference === null
          ? {}
          : { resolvedReference: resolvedReference ?? pinnedTo(reference.replace(/@.*$/, ''), digest) }),
        contentDigest: await contentDigest(target),
        ...(signer ? { signer } : {}),
      }
    },
    preview: () => Promise.reject(new Error('not part of this fake')),
  }
}

/** Writes a skill's folder: SKILL.md and its files. */
export async function writeSkill(folder: string, skill: PublishedSkill): Promise<void> {
  const { name, description = `Does what ${name} does.`, body = `# ${name}`, files = {} } = skill
  const all = { 'SKILL.md': `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`, ...files }
  for (const [path, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
    if (text.startsWith('#!')) await chmod(join(folder, path), 0o755)
  }
}
