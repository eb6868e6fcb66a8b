import type { App } from '../../src/app.ts'
import type { FlagTable, FlagValues } from '../../src/cli/flags.ts'
import type { CallerAuth, LocalAuthServer } from '../../src/contracts/caller-auth.ts'

/** How callers log in. */
export interface Login {
  /** Paths that links of other sites may lead to, besides the page at `/`. */
  readonly pages: readonly string[]
  /** Called once it is known what the server listens on. */
  open(url: string): Promise<OpenLogin>
}

export interface OpenLogin {
  readonly auth: CallerAuth
  /** Serves paths of its own; absent where callers log in elsewhere. */
  readonly server: LocalAuthServer | undefined
}

/** Returns the login that the flags of plugins ask for; undefined when everybody may call. */
export async function readLogin(
  app: App,
  values: FlagValues<FlagTable>,
  given: ReadonlySet<string>,
): Promise<Login | undefined> {
  const asked = await (await app.find('authServers'))?.fromFlags(values, given)
  // A login that was asked for is not left out because nothing here can check tokens.
  const callerAuths = asked ? await app.service('callerAuths') : await app.find('callerAuths')
  const provider = await callerAuths?.fromFlags(values)
  if (!callerAuths || (!provider && !asked)) return undefined
  return {
    pages: asked?.pages ?? [],
    async open(url) {
      const server = await asked?.open(url)
      return { auth: await callerAuths.create(provider, server?.issuer), server }
    },
  }
}
