import type { SecretReference, ServerDetails, Variable, WorkloadDetails } from '../page-types.d.ts'

/** What stands in the fields for one variable or header. */
export interface VariableDraft {
  readonly key: number
  readonly name: string
  readonly value: string
  readonly isSecret: boolean
  /** The stored secret that it gets, in place of a value. */
  readonly stored: string
  /** What the registry says of it; undefined: the user has added it. */
  readonly about?: Variable
}

export interface FolderDraft {
  readonly key: number
  readonly host: string
  readonly inside: string
  readonly isReadOnly: boolean
}

/** What stands in the form that runs or edits a workload. */
export interface RunDraft {
  readonly name: string
  /** One argument on each line. */
  readonly args: string
  readonly variables: readonly VariableDraft[]
  readonly headers: readonly VariableDraft[]
  readonly folders: readonly FolderDraft[]
  readonly transport: string
  /** `as-is`: what the entry, or the workload, has. */
  readonly permissions: 'as-is' | 'network' | 'none' | 'hosts'
  /** One host on each line, for `hosts`. */
  readonly hosts: string
  readonly runtime: string
  readonly group: string
}

/** What is run: a server of the registry, or with `reference` what was typed. */
export type Chosen = ServerDetails & { readonly reference?: string }

let keys = 0
export const nextKey = (): number => ++keys

export const emptyVariable = (isSecret = false): VariableDraft => ({
  ...{ key: nextKey(), name: '', value: '', stored: '' },
  isSecret,
})

export const emptyFolder = (): FolderDraft => ({ key: nextKey(), host: '', inside: '', isReadOnly: true })

/** The needed ones come first. A secret that the server was given before is chosen again. */
export const draftOfVariables = (
  variables: readonly Variable[] = [],
  agreed: ReadonlyMap<string, string> = new Map(),
): VariableDraft[] =>
  variables
    .toSorted((a, b) => Number(b.required ?? false) - Number(a.required ?? false))
    .map(about => ({
      ...emptyVariable(about.secret),
      ...{ name: about.name, value: about.default ?? '', stored: agreed.get(about.name) ?? '', about },
    }))

export const draftOfChosen = (chosen: Chosen, agreed: ReadonlyMap<string, string>): RunDraft => ({
  ...{ name: nameFor(chosen.name), args: '', folders: [], transport: '', permissions: 'as-is', hosts: '' },
  ...{ runtime: '', group: 'default' },
  variables: draftOfVariables(chosen.env_vars, agreed),
  headers: draftOfVariables(chosen.headers, agreed),
})

/** The fields as a workload has them. */
export function draftOfDetails(details: WorkloadDetails, name: string): RunDraft {
  const { add_plaintext_headers = {}, add_headers_from_secret = {} } = details.header_forward ?? {}
  const referred = Object.entries(add_headers_from_secret).map(([target, secret]) => ({
    target,
    name: secret,
  }))
  return {
    name,
    args: details.cmd_arguments.join('\n'),
    variables: [...plain(details.env_vars), ...stored(details.secrets)],
    headers: [...plain(add_plaintext_headers), ...stored(referred)],
    folders: details.volumes.map(toFolder),
    ...{ transport: details.transport, permissions: 'as-is', hosts: '' },
    ...{ runtime: details.runtime ?? '', group: details.group ?? 'default' },
  }
}

const plain = (values: Readonly<Record<string, string>>): VariableDraft[] =>
  Object.entries(values).map(([name, value]) => ({ ...emptyVariable(), name, value }))

const stored = (references: readonly SecretReference[]): VariableDraft[] =>
  references.map(({ name, target }) => ({ ...emptyVariable(true), name: target, stored: name }))

function toFolder(volume: string): FolderDraft {
  const [host = '', inside = host, mode] = volume.split(':')
  return { key: nextKey(), host, inside, isReadOnly: mode === 'ro' }
}

/** What stands behind the namespace, the scheme and the folders, without a version. */
const nameFor = (text: string): string =>
  (
    text
      .replace(/[?#].*$/, '')
      .replace(/\/+$/, '')
      .split('/')
      .at(-1) ?? ''
  )
    .replace(/(?<=.)@.*$|:[^:]*$/, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
