import { strFromU8, unzipSync } from 'fflate'

/** Metadata files of a wheel. */
const DESCRIPTIONS = /^[^/]+\.dist-info\/(METADATA|entry_points\.txt)$/

/**
 * Says why a wheel must not be installed; undefined when it may be. Runs none of its code.
 */
export function wheelProblem(file: string, bytes: Uint8Array): string | undefined {
  const texts: Record<string, string> = {}
  let outside: string | undefined
  const found = unzipSync(bytes, {
    filter: ({ name }) => {
      if (/^[/\\]|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(name)) outside ??= name
      return DESCRIPTIONS.test(name)
    },
  })
  if (outside !== undefined) return `${file} contains "${outside}", which is outside the package.`
  for (const [name, content] of Object.entries(found)) {
    texts[DESCRIPTIONS.exec(name)?.[1] ?? ''] = strFromU8(content)
  }
  return descriptionProblem(file, {
    metadata: texts.METADATA ?? '',
    entryPoints: texts['entry_points.txt'] ?? '',
  })
}

/**
 * The same for a package's metadata: requirements named by URL or file (direct references, PEP 508) and programs
 * named like a path are refused.
 */
export function descriptionProblem(
  who: string,
  { metadata, entryPoints }: { metadata: string; entryPoints: string },
): string | undefined {
  const [head = ''] = metadata.split(/\r?\n\r?\n/, 1)
  for (const [, wanted = ''] of head.matchAll(/^Requires-Dist:[ \t]*(.*)$/gim)) {
    const [requirement = ''] = wanted.split(';')
    if (requirement.includes('@')) {
      return `${who} needs "${requirement.trim()}"; only packages from the index are installed.`
    }
  }
  for (const name of scriptNames(entryPoints)) {
    if (/[/\\]|^\.{0,2}$/.test(name)) return `${who} names a program "${name}", which is a path.`
  }
  return undefined
}

/** Names of the programs that an `entry_points.txt` asks for (entry points specification). */
export function scriptNames(entryPoints: string): string[] {
  const names: string[] = []
  let section = ''
  for (const line of entryPoints.split(/\r?\n/).map(text => text.trim())) {
    if (/^[#;]/.test(line) || line === '') continue
    const header = /^\[(.*)\]$/.exec(line)?.[1]
    if (header !== undefined) section = header.trim()
    else if (/^(?:console|gui)_scripts$/.test(section)) names.push(line.split(/[=:]/)[0]?.trim() ?? '')
  }
  return names
}
