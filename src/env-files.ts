import { readdir, stat } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import { failures as core, messageOf } from './errors.ts'
import { isMissing } from './lib/atomic-file.ts'
import type { Log } from './log.ts'
import { readUserFile } from './user-file.ts'

type Variables = Record<string, string>

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/

/** Reads `-e KEY=VALUE`. Fails with `usage` naming the flag. */
export function parseVariables(texts: readonly string[]): Variables {
  const variables: Variables = {}
  for (const text of texts) {
    const at = text.indexOf('=')
    const key = text.slice(0, at)
    if (at < 1 || !NAME.test(key)) {
      // Only the name is shown: what stands behind it may be a secret.
      throw core.usage({ text: `--env takes KEY=VALUE, not "${at < 0 ? text : key}${at < 0 ? '' : '=…'}".` })
    }
    variables[key] = text.slice(at + 1)
  }
  return variables
}

/** Reads lines of `KEY=VALUE`; `#` begins a comment line, `export ` may stand in front, quotes around a value go. */
export function parseEnvFile(text: string, path: string): Variables {
  const variables: Variables = {}
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim().replace(/^export\s+/, '')
    if (!line || line.startsWith('#')) continue
    const at = line.indexOf('=')
    const key = line.slice(0, at).trim()
    if (at < 1 || !NAME.test(key)) {
      throw core.invalid_file({ path, problem: `line ${index + 1} is not KEY=VALUE.` })
    }
    variables[key] = unquote(line.slice(at + 1).trim())
  }
  return variables
}

const unquote = (value: string): string => /^(["'])(.*)\1$/s.exec(value)?.[2] ?? value

export async function readEnvFile(path: string): Promise<Variables> {
  return parseEnvFile(await readUserFile(path, 'The --env-file'), path)
}

/** Returns the absolute path of `--env-file-dir`. Fails when the folder does not exist or cannot be read. */
export async function findEnvFolder(folder: string, cwd: string): Promise<string> {
  const path = resolve(cwd, folder)
  await namesIn(path)
  return path
}

/**
 * Reads every file of a folder. Fails when the folder cannot be read; hidden files are left out; a file that
 * cannot be read is left out with a warning. Read anew at every start, so values never land in the run config.
 */
export async function readEnvFolder(folder: string, log: Log): Promise<Variables> {
  const names = (await namesIn(folder)).filter(name => !name.startsWith('.')).sort()
  const variables: Variables = {}
  for (const name of names) {
    const path = join(folder, name)
    try {
      if ((await stat(path)).isFile())
        Object.assign(variables, parseEnvFile(await readUserFile(path, 'The file', { pipes: false }), path))
    } catch (error) {
      log.warn(`${path} is left out: ${error instanceof Error ? error.message : error}`)
    }
  }
  return variables
}

async function namesIn(path: string): Promise<string[]> {
  const what = 'The --env-file-dir'
  if (!isAbsolute(path)) {
    throw core.file_unreadable({
      path,
      what,
      problem: 'it must be an absolute path.',
    })
  }
  try {
    return await readdir(path)
  } catch (error) {
    if (isMissing(error)) throw core.file_missing({ path, what }, { cause: error })
    throw core.file_unreadable({ path, what, problem: messageOf(error) }, { cause: error })
  }
}
