import { readUserFile } from '../../../src/user-file.ts'
import { failures } from './failures.ts'

type Env = Readonly<Record<string, string | undefined>>

/**
 * Reads a secret from the file or the variable that is named; undefined without either. Fails with `file_missing`,
 * `file_unreadable` and `upstream_config_invalid`.
 */
export async function readSecret(
  { file, variable }: { readonly file?: string | undefined; readonly variable?: string | undefined },
  { name, env }: { readonly name: string; readonly env: Env },
): Promise<string | undefined> {
  if (!file && !variable) return undefined
  const value = file
    ? await readUserFile(file, `For the provider "${name}", the secret file`)
    : env[variable ?? '']
  const secret = value?.trim()
  if (secret) return secret
  const problem = file ? `${file} is empty` : `the environment variable ${variable} is not set`
  throw failures.upstream_config_invalid({ name, problem })
}
