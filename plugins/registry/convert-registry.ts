import { constants } from 'node:fs'
import { copyFile, stat } from 'node:fs/promises'
import { readUserFile, writeUserFile } from '../../src/user-file.ts'
import { failures } from './failures.ts'
import { parseRegistry } from './formats/parse-registry.ts'
import { toUpstream } from './formats/write-registry.ts'

export interface ConvertOptions {
  readonly in?: string | undefined
  readonly out?: string | undefined
  readonly inPlace: boolean
  readonly backup: boolean
  /** Reads standard input, when no file is named. */
  readonly readInput: () => Promise<string>
}

/** What came of a conversion; `text` is for standard output. */
export type Converted =
  | { readonly kind: 'unchanged' | 'written' }
  | { readonly kind: 'text'; readonly text: string }

/** Turns a registry file of the older ToolHive format into the server.json format. */
export async function convertRegistry(options: ConvertOptions): Promise<Converted> {
  assertFlags(options)
  const place = options.in ?? 'standard input'
  const { text, mode } = options.in
    ? await read(options.in)
    : { text: await options.readInput(), mode: 0o644 }
  const { document, problems } = parseRegistry(text, place)
  if (problems.length) throw failures.registry_invalid({ place, problems })
  if (document.format === 'upstream') return { kind: 'unchanged' }
  const converted = `${JSON.stringify(toUpstream(document), null, 2)}\n`
  const after = parseRegistry(converted, `${place}, converted,`, 'full')
  if (after.problems.length)
    throw failures.registry_invalid({ place: `${place}, converted,`, problems: after.problems })
  if (options.inPlace && options.in) {
    if (options.backup) await backUp(options.in)
    await writeUserFile(options.in, converted, { mode })
    return { kind: 'written' }
  }
  if (!options.out) return { kind: 'text', text: converted }
  await writeUserFile(options.out, converted, { mode: 0o644 })
  return { kind: 'written' }
}

function assertFlags({ in: input, out, inPlace, backup }: ConvertOptions): void {
  if (inPlace && !input)
    throw failures.convert_failed({
      problem: '--in-place needs --in.',
      hint: 'Name the file with --in FILE.',
    })
  if (inPlace && out) throw failures.convert_failed({ problem: '--in-place and --out exclude each other.' })
  if (!backup && !inPlace)
    throw failures.convert_failed({ problem: '--no-backup goes only with --in-place.' })
}

async function read(path: string): Promise<{ text: string; mode: number }> {
  const text = await readUserFile(path, 'The --in file')
  return { text, mode: (await stat(path)).mode & 0o777 }
}

/** An older backup may be the only copy of what was there, so it is never overwritten. */
async function backUp(path: string): Promise<void> {
  try {
    await copyFile(path, `${path}.bak`, constants.COPYFILE_EXCL)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    throw failures.convert_failed({
      problem: `The backup file ${path}.bak is already there.`,
      hint: 'Move it away, or add --no-backup.',
    })
  }
}
