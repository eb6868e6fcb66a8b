import type { Caller } from '../../src/contracts/caller-auth.ts'
import { failures as core } from '../../src/errors.ts'
import { describeJsonError } from '../../src/lib/json-error.ts'
import { parseObject } from '../../src/lib/parse-object.ts'
import { readUserFile } from '../../src/user-file.ts'

/**
 * Reads the values of `--as` or `--arg`: JSON objects, `@FILE` with one, or `NAME=VALUE`, where the value is JSON or
 * else a text. Later ones win. Fails with `usage`.
 */
export async function readMembers(values: readonly string[], name: string): Promise<Record<string, unknown>> {
  const members: [string, unknown][] = []
  for (const value of values) {
    if (value.startsWith('{')) members.push(...toEntries(value, `--${name}`))
    else if (value.startsWith('@')) {
      const path = value.slice(1)
      members.push(...toEntries(await readUserFile(path, `The file of --${name}`), path))
    } else {
      const [, key = '', text = ''] = /^([^=]+)=(.*)$/s.exec(value) ?? []
      if (!key) throw core.usage({ text: `--${name} takes NAME=VALUE, JSON or @FILE, not "${value}".` })
      members.push([key, toValue(text)])
    }
  }
  return Object.fromEntries(members)
}

function toEntries(text: string, from: string): [string, unknown][] {
  const object = parseObject(text)
  if (!object) throw core.usage({ text: `${from} is not a JSON object: ${describeJsonError(text)}` })
  return Object.entries(object)
}

function toValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A caller with these claims. Fails with `usage` where they name no subject. */
export function toTestCaller(claims: Readonly<Record<string, unknown>>): Caller {
  const { sub } = claims
  if (sub === undefined || sub === '') {
    throw core.usage({ text: '--as names no subject.', hint: 'Give at least --as sub=NAME.' })
  }
  const subject = typeof sub === 'string' ? sub : JSON.stringify(sub)
  return { subject, claims: { ...claims, sub: subject } }
}
