import { defineFailures } from '../../../src/errors.ts'

export const failures = defineFailures({
  auth_store_unavailable: {
    status: 503,
    text: (d: { store: string; problem: string }) =>
      `The storage of the authorization server (${d.store}) cannot be used now: ${d.problem}.`,
    hint: 'Check the storage. Nobody can log in until it can be used again; no restart is needed then.',
  },
  auth_store_newer: {
    status: 409,
    text: (d: { path: string }) => `${d.path} was written by a newer version of keelson.`,
    hint: 'Use that version, or move the file away. Then everybody logs in again.',
  },
  auth_store_config_invalid: {
    status: 400,
    exit: 2,
    text: (d: { problem: string }) => `The storage of the authorization server cannot be used: ${d.problem}.`,
    hint: 'Correct "storage" in embedded_auth_server_config.',
  },
})
