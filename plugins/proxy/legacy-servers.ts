import type { Exchange, Handler } from '../../src/contracts/pipeline.ts'
import type { TargetPath } from './backends/target-path.ts'
import { type Patience, untilDrained } from './backends/until-drained.ts'
import type { LegacyHttp } from './legacy-http/index.ts'
import type { Rewriting } from './rewrite/rewriting.ts'
import type { TranslationOptions } from './translated-http/translation-options.ts'

/** The HTTP servers of a proxy, one after another, as clients of MCP 2026-07-28 see them. */
export interface LegacyServers {
  /** Responds where the server is of an older revision; else `pass` takes the exchange. */
  handle(exchange: Exchange, rewriting: Rewriting | undefined, pass: Handler): Promise<void>
  notify(text: string): void
  /** The server is replaced. Resolves when the calls at the previous one have ended; those that take longer are cut. */
  replace(patience: Patience): Promise<void>
  sweep(): void
  close(): void
}

/** What serves them is loaded with the first of these requests. */
export function createLegacyServers(options: TranslationOptions): LegacyServers {
  let current: { target: TargetPath; server: LegacyHttp } | undefined
  /** Servers that were replaced while calls were in flight. */
  const retired = new Set<LegacyHttp>()

  async function serverOf(target: TargetPath): Promise<LegacyHttp> {
    // An import takes its time even where the module is there.
    if (current?.target === target) return current.server
    const { createLegacyHttp } = await import('./legacy-http/index.ts')
    if (current?.target === target) return current.server
    if (current) retired.add(current.server)
    current = { target, server: createLegacyHttp({ ...options, target }) }
    return current.server
  }

  function end(server: LegacyHttp): void {
    server.close()
    retired.delete(server)
  }

  return {
    async handle(exchange, rewriting, pass) {
      for (const server of retired) {
        if (await server.continues(exchange)) return void (await server.handle(exchange, rewriting))
      }
      const target = options.target()
      const server = target && (await serverOf(target))
      if (!(await server?.handle(exchange, rewriting))) await pass(exchange)
    },
    notify: text => current?.server.notify(text),
    async replace(patience) {
      const before = current?.server
      if (!before) return
      retired.add(before)
      current = undefined
      await untilDrained(() => !before.hasCalls, patience)
      end(before)
    },
    sweep() {
      current?.server.sweep()
      for (const server of retired) if (server.isIdle) end(server)
    },
    close() {
      for (const server of [...retired, ...(current ? [current.server] : [])]) end(server)
      current = undefined
    },
  }
}
