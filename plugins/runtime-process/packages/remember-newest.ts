import { createHash } from 'node:crypto'
import { join } from 'node:path'
import * as t from 'typanion'
import { readFileIfThere, writeFileAtomic } from '../../../src/lib/atomic-file.ts'
import type { newestVersion } from '../../../src/lib/newest-version.ts'
import { registrySettings } from '../../../src/lib/registry-settings.ts'
import { parseDocument } from '../../../src/parse-document.ts'

/** How long, in milliseconds, a version counts as the newest without asking the registry again. */
const FRESH_MS = 5 * 60_000

const schema = t.isObject({ version: t.isString(), asked_at: t.isNumber() }, { extra: t.isUnknown() })

/**
 * Asks as `ask` does, and keeps each version that is found in `<folder>/<hash>.json`: asking npm takes longer than starting
 * most servers. The hash is that of the reference and of the settings that decide which registry is asked.
 */
export function rememberNewest(
  ask: typeof newestVersion,
  { folder, now = Date.now }: { folder: string; now?: () => number },
): typeof newestVersion {
  return async (reference, options) => {
    const key = createHash('sha256')
      .update(JSON.stringify([reference, options?.python, await registrySettings(reference, options)]))
      .digest('hex')
    const path = join(folder, `${key.slice(0, 32)}.json`)
    const known = await read(path).catch(() => undefined) // one that cannot be read is replaced
    const age = known ? now() - known.asked_at : FRESH_MS
    if (known && age >= 0 && age < FRESH_MS) return { kind: 'found', version: known.version }
    const answer = await ask(reference, options)
    if (answer.kind === 'found') {
      const { version } = answer
      await writeFileAtomic(path, JSON.stringify({ version, asked_at: now() }))
    }
    return answer
  }
}

async function read(path: string) {
  const text = await readFileIfThere(path)
  return text === undefined ? undefined : parseDocument(text, path, schema)
}
