import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  skill_missing: {
    status: 400,
    text: (d: { folder: string }) => `There is no SKILL.md in ${d.folder}.`,
    hint: 'Name the folder that holds the SKILL.md of the skill.',
  },
  skill_invalid: {
    status: 422,
    text: (d: { problem: string; line?: number | undefined; hint?: string | undefined }) =>
      `SKILL.md${d.line ? `, line ${d.line}` : ''}: ${d.problem}`,
    hint: d => d.hint,
  },
  skill_unreadable: {
    status: 500,
    text: (d: { path: string; problem: string }) => `${d.path} cannot be read: ${d.problem}`,
  },
  skill_tree_refused: {
    status: 422,
    text: (d: { problem: string }) =>
      `The folder of the skill holds something that is not allowed. ${d.problem}`,
    hint: 'A skill holds only ordinary files and folders.',
  },
  skill_archive_refused: {
    status: 422,
    text: (d: { problem: string }) => `The skill's archive is refused: ${d.problem}`,
    hint: 'Nothing of it was kept. Tell its publisher.',
  },
  skill_path_invalid: {
    status: 400,
    text: (d: { path: string; problem: string }) => `The path "${d.path}" cannot be used: ${d.problem}.`,
    hint: 'Give the absolute path of the folder that holds the SKILL.md.',
  },
  skill_build_refused: {
    status: 400,
    text: (d: { problem: string }) => `The skill cannot be built: ${d.problem}`,
    hint: '`keelson skill validate` lists all that is wrong with it.',
  },
  skill_tag_invalid: {
    status: 400,
    text: (d: { tag: string; problem: string }) => `"${d.tag}" cannot be the tag of a build: ${d.problem}.`,
    hint: 'A tag is a word such as my-skill, or a reference such as ghcr.io/me/my-skill:1.0.',
  },
  skill_build_missing: {
    status: 404,
    text: (d: { tag: string; near: string | undefined }) => `There is no build with the tag "${d.tag}".`,
    hint: d => (d.near ? `Did you mean ${d.near}?` : '`keelson skill builds` lists them.'),
  },
  skill_build_other: {
    status: 422,
    text: (d: { tag: string; name: string }) => `The build with the tag "${d.tag}" is the skill "${d.name}".`,
    hint: d => `Name it: ${d.name}`,
  },
  skill_build_ambiguous: {
    status: 409,
    text: (d: { name: string; tags: readonly string[] }) =>
      `Several builds are the skill "${d.name}": ${d.tags.join(', ')}.`,
    hint: 'Name one of these tags, or a version that only one has.',
  },
  skill_store_broken: {
    status: 500,
    text: (d: { path: string; problem: string }) => `${d.path}, a part of a build, is damaged: ${d.problem}`,
    hint: 'Build the skill again.',
  },
  skill_push_nowhere: {
    status: 400,
    text: (d: { tag: string }) => `The build "${d.tag}" does not name the registry to push it to.`,
    hint: 'Build it with --tag REGISTRY/REPOSITORY:TAG, then push that.',
  },
  skill_signing_choice: {
    status: 400,
    text: (d: { given: readonly string[] }) =>
      d.given.length
        ? `A push is signed in one way, not by ${d.given.join(' and ')}.`
        : 'It is not said how to sign what is pushed.',
    hint: 'Give --key FILE, or --identity-token TOKEN, or --no-sign.',
  },
  skill_key_invalid: {
    status: 400,
    text: (d: { path: string; problem: string }) => `The key in ${d.path} cannot be used: ${d.problem}`,
    hint: 'Give a private key made by `cosign generate-key-pair`, and its password in COSIGN_PASSWORD.',
  },
  skill_signing_failed: {
    status: 400,
    text: (d: { reference: string; problem: string }) =>
      `${d.reference} was pushed, but its signature was not: ${d.problem}`,
    hint: 'Push again: what was uploaded is not sent a second time.',
  },
  skill_token_invalid: {
    status: 400,
    text: (d: { problem: string }) => `The identity token cannot be used: ${d.problem}.`,
    hint: 'Get one from your identity provider with the audience "sigstore". In GitHub Actions, keelson requests one itself.',
  },
  skill_sigstore_failed: {
    status: 400,
    text: (d: { service: string; problem: string }) =>
      `Nothing was signed: Sigstore's ${d.service}: ${d.problem}`,
    hint: 'Nothing was pushed. Sign with --key instead, or push with --no-sign.',
  },
})
