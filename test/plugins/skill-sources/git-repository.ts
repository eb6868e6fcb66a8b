import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

/** A member of a commit: content, or a mode and what goes with it. */
export type Member = string | Buffer | { readonly mode: string; readonly content: string | Buffer }

export interface TreeEntry {
  readonly mode: string
  readonly name: string | Buffer
  readonly object: string
}

export interface Repository {
  /** The bare repository. */
  readonly folder: string
  /** Commits exactly these files on a branch, and answers the commit. */
  commit(files: Readonly<Record<string, Member>>, branch?: string): Promise<string>
  /** Points a branch or tag, by its full name, at an object. */
  point(ref: string, object: string): Promise<void>
  annotate(tag: string, commit: string): Promise<void>
  /** Stores an object as it is, however wrong; a tree from its entries. */
  store(type: 'blob' | 'tree', content: string | Buffer | readonly TreeEntry[]): Promise<string>
  /** Commits a tree on `main`, whatever is in it. */
  commitTree(tree: string): Promise<string>
  /** Runs git on it. */
  git(args: readonly string[], input?: string | Buffer): Promise<string>
}

const ENV = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
}

/** Makes an empty bare repository, `owner/repo` below a folder, whose default branch is `main`. */
export async function gitRepository(root: string, name = 'acme/skills'): Promise<Repository> {
  const folder = join(root, ...name.split('/'))
  await mkdir(folder, { recursive: true })
  const git: Repository['git'] = (args, input = '') =>
    new Promise((resolve, reject) => {
      const options = { cwd: folder, env: { ...ENV, GIT_DIR: folder }, maxBuffer: 100_000_000 }
      const child = execFile('git', args, options, (error, stdout) =>
        error ? reject(error) : resolve(stdout.trim()),
      )
      child.stdin?.on('error', () => undefined).end(input)
    })
  await git(['init', '--bare', '--quiet', '--initial-branch=main'])

  return {
    folder,
    git,
    async commit(files, branch = 'main') {
      const parts: Buffer[] = []
      const before = await git(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`]).catch(() => '')
      const from = before ? `from ${before}\n` : ''
      const add = (text: string | Buffer) => parts.push(Buffer.from(text))
      add(
        `commit refs/heads/${branch}\ncommitter Test <test@example.com> 1767225600 +0000\ndata 5\nmade\n${from}deleteall\n`,
      )
      for (const [path, member] of Object.entries(files)) {
        const { mode, content } =
          typeof member === 'string' || Buffer.isBuffer(member) ? { mode: '100644', content: member } : member
        if (mode === '160000') add(`M ${mode} ${content} ${quote(path)}\n`)
        else {
          add(`M ${mode} inline ${quote(path)}\ndata ${Buffer.byteLength(content)}\n`)
          add(content)
          add('\n')
        }
      }
      add('\n')
      await git(['fast-import', '--quiet', '--force'], Buffer.concat(parts))
      return git(['rev-parse', `refs/heads/${branch}`])
    },
    store(type, content) {
      const bytes = typeof content === 'string' || Buffer.isBuffer(content) ? content : treeOf(content)
      return git(['hash-object', '-w', '--literally', '-t', type, '--stdin'], bytes)
    },
    async commitTree(tree) {
      const commit = await git(['commit-tree', '-m', 'made', tree])
      await git(['update-ref', 'refs/heads/main', commit])
      return commit
    },
    point: async (ref, object) => void (await git(['update-ref', ref, object])),
    annotate: async (tag, commit) =>
      void (await git(['tag', '--annotate', '--force', '--message=made', tag, commit])),
  }
}

const treeOf = (entries: readonly TreeEntry[]): Buffer =>
  Buffer.concat(
    entries.flatMap(({ mode, name, object }) => [
      Buffer.from(`${mode} `),
      Buffer.from(name),
      Buffer.from([0]),
      Buffer.from(object, 'hex'),
    ]),
  )

/** C-style, as fast-import reads paths; each character stands for one byte. */
const quote = (path: string): string =>
  `"${[...Buffer.from(path, 'latin1')].map(byte => `\\${byte.toString(8).padStart(3, '0')}`).join('')}"`
