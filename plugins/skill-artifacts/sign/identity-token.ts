import { FetchProblem } from '../../../src/net/fetch-problem.ts'
import { guardedFetch } from '../../../src/net/guarded-fetch.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { failures } from '../failures.ts'

interface Options {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether to request a token of GitHub Actions when none is given. */
  readonly ask: boolean
  readonly signal?: AbortSignal | undefined
}

/**
 * Returns the given token, or the content when a file is given. With neither and with `ask`, requests one
 * of the GitHub Actions workflow that keelson runs in, which needs the permission `id-token: write`.
 * Undefined outside of such a workflow. Fails with `skill_token_invalid`.
 */
export async function findIdentityToken(
  given: string | undefined,
  { env, ask, signal }: Options,
): Promise<string | undefined> {
  if (given !== undefined) {
    const isToken = /^[\w-]+\.[\w-]+\.[\w-]*$/.test(given)
    return isToken ? given : (await readUserFile(given, 'The --identity-token')).trim()
  }
  const { ACTIONS_ID_TOKEN_REQUEST_URL: address, ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret } = env
  if (!ask || !address || !secret) return undefined
  const refuse = (problem: string) => failures.skill_token_invalid({ problem })
  const url = URL.parse(address)
  if (!url) throw refuse('ACTIONS_ID_TOKEN_REQUEST_URL is not a URL')
  url.searchParams.set('audience', 'sigstore')
  try {
    const answer = await guardedFetch(url.href, {
      headers: { authorization: `Bearer ${secret}`, accept: 'application/json' },
      allowPrivate: true, // the address is the runner's own
      timeoutMs: 10_000,
      signal,
    })
    const { value } = JSON.parse(answer.body.toString('utf8')) as { value?: unknown }
    if (answer.status === 200 && typeof value === 'string' && value) return value
    throw refuse(`GitHub Actions gave none (status ${answer.status})`)
  } catch (error) {
    if (error instanceof FetchProblem) throw refuse(`GitHub Actions gave none: ${error.message}`)
    if (error instanceof SyntaxError || error instanceof TypeError) throw refuse('GitHub Actions gave none')
    throw error
  }
}
