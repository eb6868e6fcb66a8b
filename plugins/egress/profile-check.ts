import { parseAddress } from '../../src/net/address.ts'
import { kindOf } from '../../src/net/special-addresses.ts'
import { parseHost } from './parse-host.ts'
import { parseHostPattern } from './policy.ts'

/** Errors of a permission profile, which make it unusable, and warnings. Both name the member. */
export interface ProfileReport {
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

type Check = (value: unknown, member: string, report: { errors: string[]; warnings: string[] }) => void

/** Checks all of a profile's members, whatever it holds: it may come from a file or a program. */
export function checkProfile(profile: unknown): ProfileReport {
  const report = { errors: [], warnings: [] }
  checkRoot(profile, '', report)
  return report
}

const text: Check = (value, member, { errors }) => {
  if (typeof value !== 'string') errors.push(`${member} is ${show(value)}; it takes a text`)
}

const mount: Check = (value, member, report) => {
  if (value === '') report.errors.push(`${member} is empty; it takes a path`)
  else text(value, member, report)
}

const truth: Check = (value, member, { errors }) => {
  if (typeof value !== 'boolean') errors.push(`${member} is ${show(value)}; it takes true or false`)
}

const port: Check = (value, member, { errors }) => {
  const fits = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65535
  if (!fits) errors.push(`${member} is ${show(value)}; it takes a port from 1 to 65535`)
}

const outboundHost: Check = (value, member, report) => {
  if (typeof value !== 'string') return text(value, member, report)
  const pattern = parseHostPattern(value)
  if (pattern.kind === 'invalid') {
    report.errors.push(`${member} is ${show(value)}; ${adviceFor(value) ?? pattern.problem}`)
    return
  }
  const address = pattern.kind === 'address' ? parseAddress(pattern.text) : undefined
  const kind = address && kindOf(address)
  if (kind === 'unspecified' || kind === 'multicast') {
    report.errors.push(`${member} is ${show(value)}; nothing can be connected to there`)
  }
  if (pattern.kind === 'suffix' && !pattern.text.includes('.', 1)) {
    report.warnings.push(`${member} (${show(value)}) allows a whole top-level domain`)
  }
}

/** The usual mistakes, each with what to write instead. */
function adviceFor(entry: string): string | undefined {
  if (entry === '*') return 'to allow everything public, set insecure_allow_all'
  if (entry.includes('://')) return 'it takes a host alone, without scheme and path'
  if (/^[^:]+:\d+$/.test(entry)) return 'a port goes into allow_port'
  if (/^[0-9a-f.:]+\/\d+$/i.test(entry)) return 'ranges are not taken; list the addresses one by one'
  if (entry.includes('/')) return 'it takes a host alone, without a path'
  if (entry.includes('*')) return 'a star is only taken at the start, as in *.example.com'
  return undefined
}

const inboundHost: Check = (value, member, report) => {
  if (typeof value !== 'string') return text(value, member, report)
  const host = parseHost(value)
  if (host.kind === 'invalid') {
    report.errors.push(`${member} is ${show(value)}; ${adviceFor(value) ?? host.problem}`)
  }
}

/** Null counts as absent: other programs write it for an empty list. */
const isAbsent = (value: unknown): boolean => value === undefined || value === null

const list =
  (item: Check): Check =>
  (value, member, report) => {
    if (!Array.isArray(value)) {
      report.errors.push(`${member} is ${show(value)}; it takes a list`)
      return
    }
    for (const [index, entry] of value.entries()) item(entry, `${member}[${index}]`, report)
  }

const object =
  (members: Readonly<Record<string, Check>>): Check =>
  (value, member, report) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      report.errors.push(`${member || 'the profile'} is ${show(value)}; it takes an object`)
      return
    }
    for (const [key, inner] of Object.entries(value)) {
      const path = member ? `${member}.${key}` : key
      const check = Object.hasOwn(members, key) ? members[key] : undefined
      if (!check) report.warnings.push(`${path} is not known and does nothing`)
      else if (!isAbsent(inner)) check(inner, path, report)
    }
  }

const checkRoot = object({
  name: text,
  read: list(mount),
  write: list(mount),
  network: object({
    mode: text,
    inbound: object({ allow_host: list(inboundHost) }),
    outbound: object({ insecure_allow_all: truth, allow_host: list(outboundHost), allow_port: list(port) }),
  }),
  privileged: truth,
})

const show = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80))
  return typeof value === 'object' && value !== null
    ? Array.isArray(value)
      ? 'a list'
      : 'an object'
    : String(value)
}
