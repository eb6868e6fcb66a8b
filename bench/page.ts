import { arch, cpus, platform, totalmem } from 'node:os'
import type { Result } from './result.ts'

/** What one benchmark measured, and how busy the machine was when it began. */
export interface Measured {
  readonly result: Result
  /** How many cores other programs used. */
  readonly busy: number
  /** How long it took. */
  readonly seconds: number
}

/** A benchmark that measured nothing, and why. */
export interface Unmeasured {
  readonly name: string
  readonly reason: string
}

/** A machine on which other programs use more than this part of the cores is loaded. */
const MOST_BUSY = 0.1

const isMeasured = ({ measured, figures }: Result): boolean =>
  measured > 0 && !Object.values(figures).some(Number.isNaN)

export const outcomeOf = (result: Result): string =>
  isMeasured(result) ? (result.ok ? 'ok' : 'NOT KEPT') : 'NOTHING MEASURED'

export const toText = (value: number | string): string =>
  typeof value === 'number' ? value.toFixed(value >= 100 ? 0 : 2) : value

export const toCores = (busy: number): string =>
  `other programs used ${busy.toFixed(1)} of ${cpus().length} cores before`

export const toSeconds = (seconds: number): string => `it took ${seconds.toFixed(0)} s`

/** Why the results are no page of figures: what was left out, and when the machine was loaded. */
export function problemsOf(measured: readonly Measured[], leftOut: readonly string[]): string[] {
  const loaded = measured.filter(({ busy }) => busy > MOST_BUSY * cpus().length)
  return [
    ...(leftOut.length ? [`It was a part of the benchmarks, without ${leftOut.join(', ')}.`] : []),
    ...(loaded.length
      ? [`The machine was loaded before ${loaded.map(one => one.result.name).join(', ')}.`]
      : []),
  ]
}

/** Makes `docs/performance.md` of the results of one run. It says its problems at the top. */
export function toPage(
  measured: readonly Measured[],
  unmeasured: readonly Unmeasured[],
  { problems, date }: { problems: readonly string[]; date: Date },
): string {
  const cores = cpus()
  return [
    '# Performance',
    '',
    '<!-- Made by `npm run bench -- --page`. Do not edit. -->',
    '',
    `One run of the benchmarks on ${date.toISOString().slice(0, 10)}: ${cores.length} cores of ` +
      `${cores[0]?.model.trim() || 'an unnamed processor'}, ${Math.round(totalmem() / 2 ** 30)} GB of memory, ` +
      `${platform()} ${arch()}, Node ${process.versions.node}.`,
    ...problems.flatMap(problem => ['', `**${problem}**`]),
    '',
    'Goals are for a quiet machine, one where other programs use less than a tenth of the cores. A ratio to what is',
    'done by hand suffers less from other programs than a time. `npm run bench NAME` measures again.',
    ...measured.flatMap(toSection),
    ...unmeasured.flatMap(({ name, reason }) => ['', `## ${name}`, '', `Not run: ${reason}`]),
    '',
  ].join('\n')
}

const toSection = ({ result, busy, seconds }: Measured): string[] => [
  '',
  `## ${result.name}`,
  '',
  `${result.conditions}; ${toCores(busy)}; ${toSeconds(seconds)}. Outcome: ${outcomeOf(result)}.`,
  '',
  '| Figure | Measured |',
  '|---|---:|',
  ...Object.entries(result.figures).map(
    ([what, value]) => `| ${what.replaceAll('|', '\\|')} | ${toText(value)} |`,
  ),
]
