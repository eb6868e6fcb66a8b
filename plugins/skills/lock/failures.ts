import { defineFailures } from '../../../src/errors.ts'

/** Failures of lock files, sync and upgrade. */
export const failures = defineFailures({
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
    text: (d: { name: string }) => `The skill "${d.name}" was changed by somebody else meanwhile.`,
    hint: 'Look at what is there now, and try again.',
  },
  skill_content_changed: {
    status: 422,
    text: (d: { name: string; locked: string; found: string }) =>
      `The skill "${d.name}" is locked to ${d.locked}, and what came is ${d.found}.`,
    hint: 'Whoever publishes it has changed what its reference means. `keelson skill upgrade` shows what is there now.',
  },
})
