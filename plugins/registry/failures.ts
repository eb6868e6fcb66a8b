import { defineFailures } from '../../src/errors.ts'
import type { FetchProblemKind } from '../../src/net/fetch-problem.ts'
import type { MissingVariables } from './missing-variables.ts'
import type { WantedMount } from './wanted-mounts.ts'

/** The first problems of many. */
const some = (problems: readonly string[]): string => {
  const shown = problems.slice(0, 5).join('\n  ')
  return problems.length > 5 ? `${shown}\n  and ${problems.length - 5} more` : shown
}

const quoted = (names: readonly string[]): string => names.map(name => `"${name}"`).join(', ')

/**
 * What is missing before a registry can be read: where to log in, a valid login, or a user who may read it.
 */
export type AuthLack = 'address' | 'login' | 'permission'

export const failures = defineFailures({
  registry_invalid: {
    status: 502,
    text: (d: { place: string; problems: readonly string[] }) =>
      `${d.place} is not a valid registry:\n  ${some(d.problems)}`,
  },
  registry_empty: {
    status: 502,
    text: (d: { place: string }) => `${d.place} lists no server and no skill.`,
  },
  registry_unreachable: {
    status: 504,
    text: (d: { place: string; problem: string; kind: FetchProblemKind }) =>
      `The registry ${d.place} cannot be read: ${d.problem}.`,
    hint: d => {
      if (d.kind === 'private' || d.kind === 'scheme') {
        return 'If you trust it, set it again with `keelson config set-registry --allow-private-ip`.'
      }
      return 'Try again later, or go back to the built-in catalogue with `keelson config unset-registry`.'
    },
  },
  registry_refused: {
    status: 502,
    text: (d: { place: string; status: number; problem: string }) =>
      `The registry ${d.place} responded with ${d.status}${d.problem ? `: ${d.problem}` : ''}.`,
    hint: 'Check the address with `keelson config get-registry`.',
  },
  registry_overloaded: {
    status: 502,
    text: (d: { place: string; status: number; problem: string }) =>
      `The registry ${d.place} cannot respond now (${d.status}${d.problem ? `: ${d.problem}` : ''}).`,
    hint: 'Try again later, or go back to the built-in catalogue with `keelson config unset-registry`.',
  },
  registry_auth_required: {
    status: 503,
    text: (d: { place: string; problem: string; lacks: AuthLack }) => `The registry ${d.place} ${d.problem}.`,
    hint: d =>
      d.lacks === 'address'
        ? 'Type `keelson registry login`; if that asks where to log in, add --issuer URL and --client-id ID.'
        : d.lacks === 'permission'
          ? 'Log in as somebody who may: `keelson registry logout`, then `keelson registry login`.'
          : 'Log in with `keelson registry login`.',
  },
  registry_unavailable: {
    status: 503,
    text: (d: { problem: string }) => d.problem,
    hint: 'Try again later, or set another registry.',
  },
  registry_sources: {
    status: 400,
    text: () => 'Give at most one of url, api_url and local_path.',
    hint: 'None of them goes back to the built-in catalogue.',
  },
  registry_stays: {
    status: 400,
    text: () => 'The registry "default" cannot be removed.',
    hint: 'Set it to nothing to go back to the built-in catalogue.',
  },
  registry_single: {
    status: 501,
    text: () => 'There is one registry; others cannot be added.',
  },
  registry_missing: {
    status: 404,
    text: (d: { name: string }) => `There is no registry "${d.name}".`,
    hint: 'There is one registry, and it is called "default".',
  },
  server_unknown: {
    status: 404,
    text: (d: { name: string; near: readonly string[] }) => `The registry has no server "${d.name}".`,
    hint: d =>
      d.near.length ? `Did you mean ${d.near.join(', ')}?` : 'Look for it with `keelson search WORD`.',
  },
  server_ambiguous: {
    status: 400,
    text: (d: { name: string; candidates: readonly string[] }) =>
      `Several servers are called "${d.name}": ${quoted(d.candidates)}.`,
    hint: 'Give the whole name.',
  },
  skill_unknown: {
    status: 404,
    text: (d: { name: string }) => `The registry has no skill "${d.name}".`,
  },
  server_not_runnable: {
    status: 400,
    text: (d: { name: string; kinds: readonly string[] }) =>
      d.kinds.length
        ? `"${d.name}" cannot be run: the registry has it only as ${d.kinds.join(', ')}.`
        : `"${d.name}" cannot be run: its entry names neither a package nor a URL.`,
    hint: 'keelson runs images, npm, PyPI and Go packages, and remote servers.',
  },
  entry_refused: {
    status: 403,
    text: (d: { server: string; problems: readonly string[] }) =>
      `The registry entry of "${d.server}" is refused, because it asks for more than an entry may:\n  ${some(d.problems)}`,
    hint: 'If you trust it, grant the permissions yourself with `keelson run --permission-profile`, or run its image, package or URL directly.',
  },
  permissions_unaccepted: {
    status: 409,
    text: (d: { server: string; hash: string; mounts: readonly WantedMount[]; lines: readonly string[] }) =>
      `"${d.server}" asks for access to files of this machine:\n${d.lines.join('\n')}`,
    hint: 'Allow it with --accept-permissions, or grant other permissions with `keelson run --permission-profile`.',
    extra: ({ server, hash, mounts }) => ({ wanted_permissions: { server, hash, mounts } }),
  },
  permissions_declined: {
    status: 400,
    text: (d: { server: string }) => `"${d.server}" was not given access; nothing was changed.`,
    hint: 'To run it without that access, grant other permissions with `keelson run --permission-profile`.',
  },
  variables_missing: {
    status: 422,
    exit: 2,
    text: (d: MissingVariables) =>
      `"${d.server}" needs ${d.names.join(', ')}.${d.secret ? ' It gets no stored secret without your consent.' : ''}`,
    hint: ({ secret, stored, areHeaders }: MissingVariables) => {
      if (areHeaders) {
        const secretFlag = `--remote-forward-headers-secret ${secret ?? 'NAME'}=${stored ?? 'SECRET'}`
        return `Give each header with --remote-forward-headers NAME=VALUE${secret ? `, or a secret with ${secretFlag}` : ''}.`
      }
      if (!secret) return 'Give each with -e KEY=VALUE.'
      return stored
        ? `A secret "${stored}" is stored. To give it to this server, add --secret ${stored},target=${secret}, or run this on a terminal and agree.`
        : `Store each secret with \`keelson secret set NAME\`, and give it with --secret NAME,target=${secret}. Or keep them in files of a folder that --env-file-dir names. Values given with -e are stored in clear in the run config.`
    },
    extra: ({ registry, server, missing }: MissingVariables) => ({ registry, server, missing }),
  },
  variable_name_wrong: {
    status: 422,
    text: (d: { server: string; variable: string }) =>
      `"${d.server}" asks for a variable "${d.variable}", which is not a valid name.`,
    hint: 'The registry entry is wrong; nothing was run.',
  },
  login_needs_api: {
    status: 400,
    text: (d: { place: string }) =>
      `The registry that is set (${d.place}) has no login: only registries with an API have one.`,
    hint: 'Name one with `keelson registry login --registry URL`.',
  },
  login_not_set: {
    status: 400,
    text: () => 'The registry that is set has no login.',
    hint: '`keelson config get-registry` shows which one is set.',
  },
  source_invalid: {
    status: 400,
    exit: 2,
    text: (d: { source: string; problem: string }) => `"${d.source}" cannot be a registry: ${d.problem}.`,
    hint: 'Give an https URL, or the path of a file that ends in .json.',
  },
  convert_failed: {
    status: 400,
    exit: 2,
    text: (d: { problem: string; hint?: string }) => d.problem,
    hint: d => d.hint,
  },
  catalogue_inconsistent: {
    status: 500,
    text: (d: { place: string; problems: readonly string[] }) =>
      `${d.place} has ${d.problems.length === 1 ? 'a problem' : `${d.problems.length} problems`}:\n  ${d.problems.join('\n  ')}`,
  },
})
