import type { Probe } from '../../src/contracts/runtime.ts'
import { isFailure } from '../../src/errors.ts'
import { isMissing } from '../../src/lib/atomic-file.ts'
import type { Dialect } from './dialect.ts'
import type { EngineCli } from './engine-cli.ts'
import type { EngineFacts } from './engine-facts.ts'

/** Time limit in milliseconds for a caller that sets none. */
const PROBE_MS = 5000

/** Asks the engine for its version. An error becomes a problem and a hint. */
export async function probeEngine(
  options: {
    dialect: Dialect
    cli: EngineCli
    facts: EngineFacts
    /** Called with the output of `infoArguments`, where these were asked. */
    onInfo: (info: unknown) => void
  },
  signal?: AbortSignal,
): Promise<Probe> {
  const { dialect, cli, facts, onInfo } = options
  const { infoArguments, probeArguments = infoArguments } = dialect
  const subject = { doing: 'respond' }
  try {
    const text = await facts.get(probeArguments, () =>
      cli.run(probeArguments, subject, { timeoutMs: signal ? 0 : PROBE_MS, signal }),
    )
    const output = parse(text)
    const server = dialect.readServer(output)
    if (server && probeArguments === infoArguments) onInfo(output)
    return server ? { ok: true, ...server } : strange(dialect)
  } catch (error) {
    if (signal?.aborted) return { ok: false, problem: 'it did not respond in time.', hint: slow(dialect) }
    if (!isFailure(error)) throw error
    const details = error.details as { problem?: string }
    return {
      ok: false,
      problem: details.problem ?? error.message,
      hint: error.hint ?? `\`${dialect.name} ${probeArguments[0]}\` shows what it says.`,
      ...(isMissing(error.cause) ? { absent: true } : {}),
    }
  }
}

const slow = ({ name }: Dialect) => `See whether \`${name} ps\` responds; restart the engine if not.`

/** Distributions offer a `docker` that is podman; it has no server to ask. */
const strange = ({ name }: Dialect): Probe => ({
  ok: false,
  problem: `the program "${name}" does not name its engine; it may be a replacement for another program.`,
  hint: 'Choose that other one with --runtime.',
})

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
