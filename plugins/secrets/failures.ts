import { defineFailures } from '../../src/errors.ts'

const quoted = (names: readonly string[]): string => names.map(name => `"${name}"`).join(', ')

export const failures = defineFailures({
  secrets_not_set_up: {
    status: 404,
    text: () => 'No place for secrets has been chosen yet.',
    hint: 'Choose one with `keelson secret setup`, or without questions with `keelson secret provider encrypted`.',
  },
  secrets_provider_unknown: {
    status: 400,
    exit: 2,
    text: (d: { type: string; types: readonly string[] }) =>
      `"${d.type}" is not a provider of secrets; the providers are ${d.types.join(', ')}.`,
    hint: 'Choose one with `keelson secret provider TYPE`, or correct KEELSON_SECRETS_PROVIDER.',
  },
  secrets_override_refused: {
    status: 400,
    text: (d: { type: string }) => `KEELSON_SECRETS_PROVIDER says "${d.type}", which has not been set up.`,
    hint: d => `Set it up with \`keelson secret provider ${d.type}\`; only "environment" needs no set-up.`,
  },
  secrets_unsupported: {
    status: 405,
    text: (d: { type: string; action: string }) => `The ${d.type} provider cannot ${d.action} secrets.`,
    hint: '`keelson secret provider encrypted` chooses one that can.',
  },
  secret_missing: {
    status: 404,
    text: (d: { name: string }) => `There is no secret "${d.name}".`,
    hint: d => `Store it with \`keelson secret set ${d.name}\`.`,
  },
  secret_exists: {
    status: 409,
    text: (d: { name: string }) => `There is a secret "${d.name}" already.`,
    hint: d => `Give it another value with \`keelson secret set ${d.name}\`.`,
  },
  secrets_missing: {
    status: 404,
    text: (d: { names: readonly string[] }) =>
      d.names.length === 1
        ? `There is no secret ${quoted(d.names)}.`
        : `These secrets are missing: ${quoted(d.names)}.`,
    hint: d => `Store ${d.names.length === 1 ? 'it' : 'each'} with \`keelson secret set NAME\`.`,
  },
  secret_name_invalid: {
    status: 400,
    exit: 2,
    text: (d: { name: string }) => `"${d.name}" is not a name for a secret.`,
    hint: 'Use 1 to 300 characters, none of them a comma, a line break or another control character.',
  },
  secret_name_reserved: {
    status: 400,
    text: (d: { name: string }) => `"${d.name}" is reserved for what keelson itself keeps.`,
    hint: 'Names that begin with "__keelson_" are listed and deleted with --system.',
  },
  secret_not_system: {
    status: 400,
    exit: 2,
    text: (d: { name: string }) => `"${d.name}" is not one of the secrets that keelson itself keeps.`,
    hint: 'Leave --system out.',
  },
  secret_reference_invalid: {
    status: 400,
    exit: 2,
    text: (d: { reference: string }) => `The reference ${d.reference} does not say which secret goes where.`,
    hint: 'Write NAME,target=VARIABLE: the name of a stored secret (`keelson secret set NAME`), and the environment variable that gets its value.',
  },
  secret_target_twice: {
    status: 400,
    exit: 2,
    text: (d: { target: string }) => `Two secrets have the same target: ${d.target}.`,
  },
  secret_consents_busy: {
    status: 503,
    text: (d: { path: string }) => `${d.path} is locked by another command, which does not end.`,
    hint: 'Try again when that command has ended.',
  },
  secrets_too_large: {
    status: 413,
    text: (d: { most: number }) => `All secrets together may take ${d.most} bytes; this would be more.`,
  },
  secrets_file_foreign: {
    status: 400,
    text: (d: { path: string; problem: string }) =>
      `${d.path} cannot be read as a file of secrets: ${d.problem}. It was left as it is.`,
    hint: d =>
      `A file of ToolHive is taken over with \`keelson secret import FILE\`; move it out of the way of ${d.path} first.`,
  },
  secrets_file_locked: {
    status: 403,
    text: (d: { path: string; secret: 'password' | 'key' }) =>
      d.secret === 'password'
        ? `${d.path} cannot be opened: the password is wrong, or the file was damaged. It was left as it is.`
        : `${d.path} cannot be opened with the key in the keyring of this system: the key belongs to another file, or the file is damaged. It was left as it is.`,
    hint: d =>
      d.secret === 'password'
        ? 'Give the right password, or put a copy of the file in its place.'
        : 'Restore the file from a backup. To start over, move it away and run `keelson secret provider encrypted`.',
  },
  secrets_import_refused: {
    status: 400,
    text: (d: { path: string }) =>
      `${d.path} cannot be imported: the password is wrong, or it is another kind of file. Nothing was changed.`,
    hint: 'It has to be the `secrets_encrypted` file of ToolHive, with the password that ToolHive uses for it.',
  },
  secrets_import_conflict: {
    status: 409,
    text: (d: { names: readonly string[] }) =>
      `Secrets of these names are there already, with other values: ${quoted(d.names)}. Nothing was imported.`,
    hint: 'Add --replace to take the imported values.',
  },
  secrets_password_needed: {
    status: 400,
    text: () => 'The password of the secrets is needed, and it cannot be asked for here.',
    hint:
      'On a terminal, `keelson secret unlock` keeps it until you log out, and `keelson secret setup` offers to keep it in a file. Or remember a file that holds it with `keelson secret provider encrypted --password-file FILE`. ' +
      'KEELSON_SECRETS_PASSWORD_FILE and KEELSON_SECRETS_PASSWORD work too, but a workload gets its secrets from the ' +
      'supervisor: it knows the variables of the command that started it.',
  },
  secrets_session_missing: {
    status: 400,
    text: () =>
      'There is no folder here that ends with your session, where the password could be kept: XDG_RUNTIME_DIR is not set.',
    hint: 'Remember a file that holds it with `keelson secret provider encrypted --password-file FILE`.',
  },
  secrets_password_file: {
    status: 400,
    text: (d: { path: string; problem: string }) => `The password file ${d.path} ${d.problem}.`,
    hint: 'Its content is the password; one final line break is ignored.',
  },
  secrets_passwords_differ: {
    status: 400,
    text: () => 'The two passwords are not the same; nothing was set up.',
  },
  keyring_unavailable: {
    status: 400,
    text: (d: { problem: string }) => `There is no keyring here that could keep a key: ${d.problem}`,
    hint: 'Use a password instead: `keelson secret provider encrypted --password-file FILE`, or KEELSON_SECRETS_PASSWORD.',
  },
  keyring_empty: {
    status: 404,
    text: (d: { path: string }) =>
      `The key of ${d.path} is not in the keyring of this system, so that file cannot be opened.`,
    hint: 'Secrets can be moved to another machine only if a password protects them. To start over, move the file away and run `keelson secret provider encrypted`.',
  },
  onepassword_unavailable: {
    status: 400,
    text: (d: { problem: string }) => `1Password cannot be used: ${d.problem}`,
    hint: 'It needs the package @1password/sdk, installed next to keelson, and a service account token in OP_SERVICE_ACCOUNT_TOKEN.',
  },
  onepassword_failed: {
    status: 502,
    text: (d: { problem: string }) => `1Password returned an error: ${d.problem}`,
  },
  onepassword_reference: {
    status: 400,
    text: (d: { name: string }) => `"${d.name}" is not a reference of 1Password.`,
    hint: 'Write op://VAULT/ITEM/FIELD.',
  },
})
