import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import type { Failure } from '../../src/errors.ts'
import { redact } from '../../src/lib/redact.ts'
import type { Dialect, Symptom } from './dialect.ts'
import { failures } from './failures.ts'

/** What a call was about, for the failure it may end in. */
export interface Subject {
  /** Completes "docker could not …". */
  readonly doing: string
  readonly name?: string
  readonly image?: string
}

/** Beyond this many characters the engine repeats itself. */
const LONGEST = 600
const LINES = 4

/** The end of what an engine said, fit for a failure: whole lines, secrets hidden, no log decoration. */
export function lastWords(text: string, lines = LINES): string {
  const words = text
    .split(/\r?\n/)
    .map(line =>
      line
        .trimEnd()
        .replace(/^(?:Error response from daemon|Error|docker): /, '')
        .replace(/^Error response from daemon: /, ''),
    )
    .filter(line => line && !isNoise(line))
    .slice(-lines)
    .join('\n')
  return redact(words.length > LONGEST && lines === LINES ? `…${words.slice(-LONGEST)}` : words)
}

const isNoise = (line: string): boolean =>
  /^(?:DEPRECATED: The legacy builder|\s+(?:BuildKit is currently disabled|environment-variable|Install the buildx)|Sending build context|Run '\w+ .* --help'|See '\w+ .*--help'|failed to start containers: |time="[^"]*" level=(?:info|debug))/.test(
    line,
  )

/** Turns the words of a failed call into the Failure that says what to do. */
export function diagnose(dialect: Dialect, text: string, subject: Subject): Failure {
  const runtime = dialect.name
  const words = lastWords(text) || 'it ended without a word.'
  const { name = '', image = '' } = subject

  const trouble = findSymptom(dialect, text, subject)
  if (trouble) return runtimeFailures.runtime_unavailable({ runtime, ...trouble })
  if (/no such container|no container with name or ID|multiple IDs found/i.test(text)) {
    return runtimeFailures.instance_missing({ runtime, name })
  }
  if (/no such image|image not known|failed to find image|unable to find image/i.test(text)) {
    return failures.image_missing({ runtime, image })
  }
  if (/(?:container name|the name) "[^"]*" is already in use|name is in use/i.test(text)) {
    return runtimeFailures.name_taken({ runtime, name })
  }
  if (/address already in use|port is already allocated/i.test(text)) {
    const address = /(?:for|listen tcp[46]?|bind:?|address) (\[?[\da-f.:]+\]?:\d+)/i.exec(text)?.[1]
    return runtimeFailures.instance_port_busy({ runtime, name, address: address ?? 'one of them' })
  }
  const path = /(?:bind source path does not exist: |statfs )(.+?)(?:: no such file or directory)?$/m.exec(
    text,
  )?.[1]
  if (path) return runtimeFailures.mount_missing({ path })
  return runtimeFailures.runtime_failed({ runtime, doing: subject.doing, problem: words })
}

/** What is wrong with the engine itself, if its words say so. */
function findSymptom(
  dialect: Dialect,
  text: string,
  { image }: Subject,
): { problem: string; hint: string } | undefined {
  // While an image is pulled or built, the broken stream may be that of a registry.
  const known = image === undefined ? [LOST, ...dialect.symptoms] : dialect.symptoms
  const symptom = known.find(({ words }) => words.test(text))
  return symptom && { problem: symptom.problem(lastWords(text, 2)), hint: symptom.hint }
}

const LOST: Symptom = {
  words: /unexpected EOF|connection reset by peer|: EOF$/m,
  problem: () => 'the engine went away in the middle of the call.',
  hint: 'Start it again and repeat the command.',
}
