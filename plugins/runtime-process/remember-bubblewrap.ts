import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as t from 'typanion'
import { writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { findOnPath } from '../../src/lib/find-on-path.ts'
import { parseDocument } from '../../src/parse-document.ts'
import { isPrivateFolder } from '../../src/private-folder.ts'
import { type Bubblewrap, findBubblewrap } from './find-bubblewrap.ts'
import { NO_NESTING } from './sandbox.ts'

/** How long, in milliseconds, a bubblewrap that has worked is not tried again. */
const KEEP_MS = 60_000

const schema = t.isObject({
  program: t.isString(),
  at: t.isNumber(),
  version: t.isString(),
  forbidsNesting: t.isBoolean(),
})

/**
 * Tries bubblewrap as `findBubblewrap` does, which takes 40 ms, unless this program has worked within the last minute
 * since this host was started. One that has stopped working meanwhile fails to start a server: nothing ever runs without
 * a sandbox for what is kept here. Servers cannot write to `folder`, and a folder that others may write to is not read.
 */
export async function rememberBubblewrap(path: string, folder: string): Promise<Bubblewrap> {
  const file = join(folder, 'bubblewrap.json')
  const program = await findOnPath('bwrap', path)
  const identity = program === undefined ? undefined : await identify(program)
  if (program === undefined || identity === undefined) return findBubblewrap(path)
  const known = isPrivateFolder(folder) ? await read(file).catch(() => undefined) : undefined
  const age = known ? Date.now() - known.at : -1
  if (known?.program === identity && age >= 0 && age < KEEP_MS) {
    const hardening = known.forbidsNesting ? NO_NESTING : []
    return { works: true, program, version: known.version, hardening }
  }
  const found = await findBubblewrap(path)
  if (found.works) {
    const forbidsNesting = found.hardening.length > 0
    const kept = { program: identity, at: Date.now(), version: found.version, forbidsNesting }
    await writeFileAtomic(file, JSON.stringify(kept)).catch(() => undefined) // the next command tries again
  }
  return found
}

/** Changes with the program and with each start of this host; undefined where there is no such file. */
async function identify(program: string): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(program)
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
    return [program, dev, ino, size, mtimeMs, ctimeMs, boot.trim()].join(' ')
  } catch {
    return undefined
  }
}

const read = async (file: string) => parseDocument(await readFile(file, 'utf8'), file, schema)
