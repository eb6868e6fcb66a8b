import { defineFailures } from '../../src/errors.ts'

const listed = (names: readonly string[]): string => names.join(', ')

/** Failures of installing, listing, updating and removing skills, and of lock files. */
export const failures = defineFailures({
  skill_name_invalid: {
    status: 400,
    text: (d: { name: string }) => `"${d.name}" is not a name for a skill.`,
    hint: 'Names have 1 to 64 lower-case letters, digits and single hyphens between them.',
  },
  skill_scope_invalid: {
    status: 400,
    exit: 2,
    text: (d: { problem: string }) => d.problem,
    hint: 'Skills are installed for the user (`--scope user`), or for a project (`--scope project`).',
  },
  skill_project_invalid: {
    status: 400,
    text: (d: { root: string; problem: string }) => `${d.root} cannot be used as a project: ${d.problem}.`,
    hint: 'Name the top folder of a git working tree by its absolute path, with --project-root.',
  },
  skill_clients_missing: {
    status: 400,
    text: () => 'No client application that reads skills was found on this machine.',
    hint: 'Name one with --clients; `keelson client status` lists them.',
  },
  skill_client_invalid: {
    status: 400,
    text: (d: { problem: string; near?: string | undefined }) =>
      `${d.problem}${d.near ? ` Did you mean ${d.near}?` : ''}`,
    hint: '`keelson client status` lists the clients; "all" means those that are installed, and cannot be combined with names.',
  },
  skill_not_installed: {
    status: 404,
    text: (d: { name: string; where: string; near?: string | undefined }) =>
      `The skill "${d.name}" is not installed ${d.where}.${d.near ? ` Did you mean ${d.near}?` : ''}`,
    hint: '`keelson skill list` shows what is installed.',
  },
  skill_folder_foreign: {
    status: 409,
    text: (d: { path: string }) => `${d.path} exists already and is not managed by keelson.`,
    hint: 'Move it away, or replace it with --force.',
  },
  skill_folder_unsafe: {
    status: 409,
    text: (d: { path: string; problem: string }) => `Nothing is written below ${d.path}: ${d.problem}.`,
    hint: 'Skills are only written into real folders. Replace it by a folder, or choose other --clients.',
  },
  skill_edited: {
    status: 409,
    text: (d: { name: string; path: string; files: readonly string[] }) =>
      `The skill "${d.name}" was edited in ${d.path} (${listed(d.files.slice(0, 5))}${d.files.length > 5 ? ', …' : ''}); it was left alone.`,
    hint: 'Keep a copy of what you changed; --force discards the edits.',
  },
  skill_other_version: {
    status: 409,
    text: (d: { name: string; installed: string; found: string }) =>
      `The skill "${d.name}" is there as ${d.installed}; this is ${d.found}.`,
    hint: '`keelson skill upgrade` shows what would change; --force replaces it.',
  },
  skill_conflict: {
    status: 409,
    text: (d: { name: string; parent: string; wanted: string; present: string }) =>
      `"${d.parent}" needs "${d.name}" from ${d.wanted}, and there is another from ${d.present}.`,
    hint: 'Uninstall the other one, or replace it with --force.',
  },
  skill_required: {
    status: 409,
    text: (d: { name: string; parents: readonly string[] }) =>
      `The skill "${d.name}" is needed by ${listed(d.parents)}.`,
    hint: 'Uninstall these first, or remove it regardless with --force.',
  },
  skill_cycle: {
    status: 422,
    text: (d: { path: readonly string[] }) => `Skills need each other in a circle: ${d.path.join(' → ')}.`,
    hint: 'Their makers have to remove one of these requirements.',
  },
  skill_requires_too_many: {
    status: 422,
    text: (d: { name: string; most: number }) =>
      `The skill "${d.name}" needs more than ${d.most} other skills, directly or not.`,
  },
  skill_unsigned: {
    status: 403,
    text: (d: { name: string; reference: string }) =>
      `The skill "${d.name}" from ${d.reference} is not signed.`,
    hint: 'Read it with `keelson skill content`; --allow-unsigned installs it regardless.',
  },
  skill_signature_lost: {
    status: 403,
    text: (d: { name: string; signer: string }) =>
      `The skill "${d.name}" was signed by ${d.signer}, and this one is not signed.`,
    hint: 'If that is intended, uninstall it and install it again.',
  },
  skill_signer_changed: {
    status: 403,
    text: (d: { name: string; before: string; after: string }) =>
      `The skill "${d.name}" was signed by ${d.before}, and this one by ${d.after}.`,
    hint: 'If its makers say so, accept them with `keelson skill upgrade --allow-signer-change`.',
  },
  skill_provenance_changed: {
    status: 403,
    text: (d: { name: string; field: string; before: string; after: string }) =>
      `The skill "${d.name}" was signed for ${d.field} "${d.before}", and this one for "${d.after}".`,
    hint: 'If its makers say so, accept that with `keelson skill upgrade --allow-signer-change`.',
  },
  skill_unfinished: {
    status: 500,
    text: (d: { path: string; problem: string }) =>
      `An interrupted change could not be undone: ${d.problem}. ${d.path} says what it was.`,
    hint: 'Solve that; the next skill command tries again.',
  },
  // Lock files, sync and upgrade.
  skill_lock_invalid: {
    status: 400,
    text: (d: { path: string; problem: string; line?: number | undefined }) =>
      `The lock file ${d.path}${d.line === undefined ? '' : `, line ${d.line},`} is not valid: ${d.problem}.`,
    hint: 'Take the last good one from git, or correct it.',
  },
  skill_lock_version: {
    status: 400,
    text: (d: { path: string; version: string }) =>
      `The lock file ${d.path} has version ${d.version}; this program reads version 1.`,
    hint: 'A newer keelson may have written it.',
  },
  skill_lock_missing: {
    status: 404,
    text: (d: { path: string }) => `There is no lock file ${d.path}.`,
    hint: '`keelson skill install NAME --scope project` writes one; commit it.',
  },
  skill_not_locked: {
    status: 404,
    text: (d: { name: string; where: string; near?: string | undefined }) =>
      `${d.where} has no skill "${d.name}".${d.near ? ` Did you mean ${d.near}?` : ''}`,
    hint: '`keelson skill list` shows what is installed.',
  },
  skill_changed_meanwhile: {
    status: 409,
    text: (d: { name: string }) => `The skill "${d.name}" was changed by another program meanwhile.`,
    hint: 'Check its present state and try again.',
  },
  skill_content_changed: {
    status: 422,
    text: (d: { name: string; locked: string; found: string }) =>
      `The skill "${d.name}" is locked to ${d.locked}, and what came is ${d.found}.`,
    hint: 'Its publisher has changed the content of that reference. `keelson skill upgrade` shows what it is now.',
  },
})
