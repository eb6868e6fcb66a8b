import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** Files below the folders that hold the text, in clear. */
export function filesWith(text: string, folders: readonly string[]): string[] {
  const { status, stdout, stderr } = spawnSync('grep', ['-rlaF', '--', text, ...folders], {
    encoding: 'utf8',
  })
  if (status === null || status > 1) throw new Error(stderr)
  return stdout.split('\n').filter(Boolean)
}

export interface ProcessWith {
  readonly command: string
  /** Where the text was. */
  readonly place: 'arguments' | 'environment'
}

/** Processes of this machine that hold any of the texts where other programs can see it. */
export function processesWith(...texts: readonly string[]): ProcessWith[] {
  const found: ProcessWith[] = []
  const holds = (read: string) => texts.some(text => read.includes(text))
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    const read = (file: string) => {
      try {
        return readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ')
      } catch {
        return '' // it has ended
      }
    }
    const command = read('cmdline')
    if (holds(command)) found.push({ command, place: 'arguments' })
    if (holds(read('environ'))) {
      // A program that was just being started had its environment later than its arguments.
      found.push({ command: read('cmdline') || command, place: 'environment' })
    }
  }
  return found
}

/** Looks at all processes again and again until it is told to stop; answers every sort that it saw. */
export function watchProcesses(...texts: readonly string[]): { stop(): ProcessWith[] } {
  const seen = new Map<string, ProcessWith>()
  const look = () => {
    for (const found of processesWith(...texts)) seen.set(`${found.place} ${found.command}`, found)
  }
  const timer = setInterval(look, 50)
  return {
    stop() {
      clearInterval(timer)
      look()
      return [...seen.values()]
    },
  }
}
