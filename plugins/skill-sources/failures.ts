import { defineFailures } from '../../src/errors.ts'

const quoted = (names: readonly string[]): string => names.map(name => `"${name}"`).join(', ')

/** Failures of finding and fetching skills. */
export const failures = defineFailures({
  skill_reference_invalid: {
    status: 400,
    text: (d: { reference: string; problem: string }) =>
      `"${d.reference}" cannot be used as the reference of a skill: ${d.problem}.`,
    hint: 'Give a name, an OCI reference, or git://host/owner/repo[@ref][#folder].',
  },
  skill_host_refused: {
    status: 400,
    text: (d: { host: string; problem: string }) => `Nothing is fetched from ${d.host}: ${d.problem}.`,
    hint: d => `If you trust it, name it in KEELSON_PRIVATE_GIT_HOSTS=${d.host}.`,
  },
  skill_not_found: {
    status: 404,
    text: (d: { name: string; near: readonly string[] }) =>
      `There is no skill "${d.name}", neither in the registry nor among the local builds.`,
    hint: d =>
      d.near.length
        ? `Did you mean ${d.near.join(', ')}?`
        : '`keelson skill builds` lists the local builds; a skill from elsewhere needs its whole reference.',
  },
  skill_version_missing: {
    status: 404,
    text: (d: { name: string; version: string; there: string }) =>
      `The registry has no version ${d.version} of the skill "${d.name}", only ${d.there}.`,
  },
  skill_ambiguous: {
    status: 409,
    text: (d: { name: string; candidates: readonly string[] }) =>
      `Several skills are called "${d.name}": ${quoted(d.candidates.slice(0, 5))}${d.candidates.length > 5 ? ', …' : ''}.`,
    hint: 'Give the whole name.',
  },
  skill_package_missing: {
    status: 422,
    text: (d: { name: string }) =>
      `The registry's entry of the skill "${d.name}" names nothing that can be fetched: neither an OCI artifact nor a git repository.`,
  },
  skill_content_refused: {
    status: 422,
    text: (d: { reference: string; problem: string; hint?: string | undefined }) =>
      `${d.reference} holds something other than a usable skill: ${d.problem}.`,
    hint: d => d.hint,
  },
  skill_source_denied: {
    status: 401,
    text: (d: { reference: string; problem: string; hint?: string | undefined }) =>
      `${d.reference} cannot be fetched: ${d.problem}.`,
    hint: d => d.hint,
  },
  skill_source_missing: {
    status: 404,
    text: (d: { reference: string; problem: string; hint?: string | undefined }) =>
      `${d.reference} does not exist: ${d.problem}.`,
    hint: d => d.hint,
  },
  skill_source_busy: {
    status: 429,
    text: (d: { reference: string; problem: string; hint?: string | undefined }) =>
      `${d.reference} cannot be fetched now: ${d.problem}.`,
    hint: d => d.hint ?? 'Try again later.',
  },
  skill_source_failed: {
    status: 502,
    text: (d: { reference: string; problem: string; hint?: string | undefined }) =>
      `${d.reference} cannot be fetched: ${d.problem}.`,
    hint: d => d.hint,
  },
  skill_source_timeout: {
    status: 504,
    text: (d: { reference: string; problem: string; hint?: string | undefined }) =>
      `Fetching ${d.reference} takes too long: ${d.problem}.`,
    hint: d => d.hint,
  },
  skill_signature_invalid: {
    status: 403,
    text: (d: { reference: string; problem: string }) =>
      `${d.reference} has a signature that proves nothing: ${d.problem}.`,
    hint: 'Somebody other than its makers may have changed it. Ask its makers.',
  },
  git_missing: {
    status: 501,
    text: () => 'Skills in git repositories are fetched with the git program, which is not installed.',
    hint: 'Install git, and make sure that it is in PATH.',
  },
})
