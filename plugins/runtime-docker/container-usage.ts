import type { Usage } from '../../src/contracts/runtime.ts'
import { parseMemory } from '../../src/lib/resources.ts'
import type { EngineCli } from './engine-cli.ts'

/** The same placeholders in docker and podman; tabs, because podman's JSON has other members. */
const FORMAT = '{{.Name}}\t{{.CPUPerc}}\t{{.MemUsage}}'

/** What running containers use now, by name. The engine measures for about a second. */
export async function readUsage(cli: EngineCli, names: readonly string[]): Promise<Map<string, Usage>> {
  if (names.length === 0) return new Map()
  const text = await cli.run(['stats', '--no-stream', '--no-trunc', `--format=${FORMAT}`, '--', ...names], {
    doing: 'measure its containers',
  })
  return new Map(text.split('\n').flatMap(line => parseLine(line)))
}

/** `name`, `0.52%`, `12.3MiB / 2GiB`. A container that has just ended has dashes. */
function parseLine(line: string): [string, Usage][] {
  const [name = '', cpu = '', memory = ''] = line.split('\t')
  const cpuPercent = Number(cpu.replace(/%$/, ''))
  const memoryBytes = parseMemory(memory.replace(/\s*\/.*$/, ''))
  return !name || Number.isNaN(cpuPercent) || memoryBytes === undefined
    ? []
    : [[name, { cpuPercent, memoryBytes }]]
}
