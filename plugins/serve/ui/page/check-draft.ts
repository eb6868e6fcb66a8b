import type { FolderDraft, RunDraft, VariableDraft } from './run-draft.ts'

/** What is wrong, by the id of the field. */
export type FieldProblems = ReadonlyMap<string, string>

const NEEDED = 'A value is needed.'
const HOST = /^(?:[\p{L}\p{N}_.-]+|\[?[0-9a-fA-F:.]+\]?)$/u

/** Checks what can be known before the server is asked. */
export function checkDraft(draft: RunDraft): Map<string, string> {
  const problems = new Map<string, string>()
  if (!draft.name) problems.set('workload-name', NEEDED)
  else if (!/^[A-Za-z0-9._-]{1,100}$/.test(draft.name))
    problems.set('workload-name', 'Only letters, digits, “.”, “_” and “-”, 100 at most.')
  checkVariables('variable', draft.variables, problems)
  checkVariables('header', draft.headers, problems)
  for (const folder of draft.folders) checkFolder(folder, problems)
  const wrong = linesOf(draft.hosts).find(host => !HOST.test(host))
  if (draft.permissions === 'hosts' && wrong) problems.set('hosts', `“${wrong}” is not the name of a host.`)
  return problems
}

/** The field of a variable has the number of its draft in its id. */
export const variableId = (kind: string, { key }: { key: number }): string => `${kind}-${key}`

export function checkVariables(
  kind: string,
  variables: readonly VariableDraft[],
  problems: Map<string, string>,
): void {
  for (const variable of variables) {
    const { name, value, stored, about, isSecret } = variable
    const id = variableId(kind, variable)
    if (!about && !isEmpty(variable) && !/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name))
      problems.set(`${id}-name`, 'A name has letters, digits, “_”, “.” and “-”, and begins with a letter.')
    if ((about?.required || (isSecret && name && !about)) && !value && !stored) problems.set(id, NEEDED)
  }
}

function checkFolder(folder: FolderDraft, problems: Map<string, string>): void {
  const { key, host, inside } = folder
  if (!host && !inside) return
  if (!/^(?:\/|[A-Za-z]:[\\/])/.test(host))
    problems.set(`folder-${key}`, 'Write the whole path, for example /home/me/notes.')
  else if (host.slice(2).includes(':') || inside.includes(':'))
    problems.set(`folder-${key}`, 'A path with a colon cannot be given to a server.')
  if (inside && !inside.startsWith('/'))
    problems.set(`folder-${key}-inside`, 'Write the whole path, for example /data.')
}

/** A row that was added and left alone. */
export const isEmpty = ({ name, value, stored }: VariableDraft): boolean => !name && !value && !stored

export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean)
