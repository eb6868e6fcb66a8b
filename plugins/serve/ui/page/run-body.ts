import type { SecretReference } from '../page-types.d.ts'
import { isEmpty, linesOf } from './check-draft.ts'
import type { Chosen, RunDraft, VariableDraft } from './run-draft.ts'

/** The members of a request that the fields stand for. Secrets are stored by now. */
export const bodyOf = (draft: RunDraft) => ({
  name: draft.name,
  cmd_arguments: draft.args.split('\n').filter(Boolean),
  env_vars: plainOf(draft.variables),
  secrets: referencesOf(draft.variables),
  volumes: draft.folders
    .filter(({ host }) => host)
    .map(({ host, inside, isReadOnly }) => `${host}:${inside || host}${isReadOnly ? ':ro' : ''}`),
  ...(draft.transport ? { transport: draft.transport } : {}),
  ...(draft.runtime ? { runtime: draft.runtime } : {}),
  group: draft.group,
  ...permissionsOf(draft),
  ...headersOf(draft.headers),
})

/** What to run. */
export function targetOf({ name, reference }: Chosen) {
  if (!reference) return { registry: 'default', server: name }
  return /^https?:/.test(reference) ? { url: reference } : { image: reference }
}

/** The variables that stand in the open. */
export const plainOf = (variables: readonly VariableDraft[]): Record<string, string> =>
  Object.fromEntries(
    variables
      .filter(({ isSecret, value, about, name }) => !isSecret && name && (value || !about))
      .map(({ name, value }) => [name, value]),
  )

export const referencesOf = (variables: readonly VariableDraft[]): SecretReference[] =>
  variables.filter(one => one.stored && !isEmpty(one)).map(one => ({ name: one.stored, target: one.name }))

function headersOf(headers: readonly VariableDraft[]) {
  const secrets = referencesOf(headers).map(({ name, target }) => [target, name])
  const add_plaintext_headers = plainOf(headers)
  if (!Object.keys(add_plaintext_headers).length && !secrets.length) return {}
  return { header_forward: { add_plaintext_headers, add_headers_from_secret: Object.fromEntries(secrets) } }
}

function permissionsOf({ permissions, hosts }: RunDraft) {
  if (permissions === 'as-is') return {}
  if (permissions !== 'hosts') return { permission_profile_name_or_path: permissions }
  const outbound = { insecure_allow_all: false, allow_host: linesOf(hosts) }
  return { permission_profile: { network: { outbound } } }
}
