import { arch, cpus, platform, totalmem } from 'node:os'
import type { Result } from './result.ts'

/** What one benchmark measured, and how busy the machine was when it began. */
export interface Measured {
  readonly result: Result
  /** The load average of the last minute. */
  readonly load: number
}

const isMeasured = ({ measured, figures }: Result): boolean =>
  measured > 0 && !Object.values(figures).some(Number.isNaN)

export const outcomeOf = (result: Result): string =>
  isMeasured(result) ? (result.ok ? 'ok' : 'NOT KEPT') : 'NOTHING MEASURED'

export const toText = (value: number | string): string =>
  typeof value === 'number' ? value.toFixed(value >= 100 ? 0 : 2) : value

/** Makes `docs/performance.md` of the results of one run. */
export function toPage(measured: readonly Measured[], date: Date): string {
  const cores = cpus()
  return [
    '# Performance',
    '',
    '<!-- Made by `npm run bench -- --page`. Do not edit. -->',
    '',
    `One run of the benchmarks on ${date.toISOString().slice(0, 10)}: ${cores.length} cores of ` +
      `${cores[0]?.model.trim() || 'an unnamed processor'}, ${Math.round(totalmem() / 2 ** 30)} GB of memory, ` +
      `${platform()} ${arch()}, Node ${process.versions.node}.`,
    '',
    'Goals are for a quiet machine, one with a load of less than its cores before the benchmark begins. A ratio to what',
    'is done by hand suffers less from other programs than a time. `npm run bench NAME` measures again.',
    ...measured.flatMap(toSection),
    '',
  ].join('\n')
}

const toSection = ({ result, load }: Measured): string[] => [
  '',
  `## ${result.name}`,
  '',
  `${result.conditions}. Load before: ${load.toFixed(1)}. Outcome: ${outcomeOf(result)}.`,
  '',
  '| Figure | Measured |',
  '|---|---:|',
  ...Object.entries(result.figures).map(
    ([what, value]) => `| ${what.replaceAll('|', '\\|')} | ${toText(value)} |`,
  ),
]
