import { stat } from 'node:fs/promises'
import { isAbsolute, posix, resolve } from 'node:path'
import { failures as core } from '../../src/errors.ts'
import { isPublishedPort } from '../../src/lib/published-port.ts'
import type { Schema } from '../../src/lib/schema.ts'
import { toTextCheck } from '../../src/lib/text-schema.ts'
import { failures } from './failures.ts'

const wrong = (text: string, problem: string) =>
  core.usage({
    text: `--volume "${text}" ${problem}.`,
    hint: 'It is written HOST:CONTAINER or HOST:CONTAINER:ro.',
  })

const CHARACTER = '[^:$&;|`\\u0000-\\u001f]'

/** The schema of a volume. A letter before `:/` or `:\\` names a drive. */
export const volume: Schema<string> = {
  type: 'string',
  pattern:
    `^(?:[A-Za-z]:[\\\\/]${CHARACTER}*|${CHARACTER}{2,}|${CHARACTER.replace(':', ':A-Za-z')})` +
    `:/${CHARACTER}*(?::r[ow])?$`,
  description: 'HOST:CONTAINER or HOST:CONTAINER:ro, without control characters, $, &, ;, | and `',
}
const isVolume = toTextCheck(volume)

/** Checks `--volume` values and makes their host paths absolute. Fails before anything is made. */
export async function parseVolumes(texts: readonly string[], cwd: string): Promise<string[]> {
  const volumes = new Map<string, string>()
  for (const text of texts) {
    const { source, target, mode } = splitVolume(text)
    const path = resolve(cwd, source)
    await assertMountable(path)
    if (volumes.has(target)) throw wrong(text, `mounts a second thing at ${target}`)
    volumes.set(target, `${path}:${target}${mode}`)
  }
  return [...volumes.values()]
}

/** Fails with `volume_missing` when there is nothing at a path that is to be mounted. */
export async function assertMountable(path: string): Promise<void> {
  if (!(await stat(path).catch(() => undefined))) throw failures.volume_missing({ path })
}

function splitVolume(text: string): { source: string; target: string; mode: '' | ':ro' } {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  if (/[\u0000-\u001f$&;|`]/.test(text)) throw wrong(text, 'holds a character that no path here may have')
  const mode = text.endsWith(':ro') ? ':ro' : ''
  const plain = text.replace(/:(ro|rw)$/, '')
  const at = plain.indexOf(':', /^[A-Za-z]:[\\/]/.test(plain) ? 2 : 0)
  const source = plain.slice(0, at)
  const target = plain.slice(at + 1)
  if (at < 1 || !target) throw wrong(text, 'names no path inside the container')
  if (target.includes(':')) throw wrong(text, 'has too many colons')
  if (!posix.isAbsolute(target) || !isAbsolute(posix.normalize(target))) {
    throw wrong(text, 'has a path inside the container that does not start with /')
  }
  if (!isVolume(text)) throw wrong(text, 'has another form')
  return { source, target: posix.normalize(target), mode }
}

/** Checks `--publish` values: `8080` or `9000:8080`. */
export function parsePublish(texts: readonly string[]): string[] {
  return texts.map(text => {
    if (!isPublishedPort(text))
      throw core.usage({ text: `--publish takes HOST:CONTAINER or CONTAINER, not "${text}".` })
    return text
  })
}
