import { readFileSync } from 'node:fs'

/** A command of a guide, what the guide shows below it, and how it ends. */
export interface GuideCommand {
  readonly line: string
  /** Lines of standard output as the guide shows them; undefined where it shows none. */
  readonly shown: readonly string[] | undefined
  readonly code: number
}

/** A fenced block. */
const BLOCK = /^```(\S*)[ \t]*(.*)\n([\s\S]*?)^```$/gm

/**
 * The commands of a page in their order. Blocks `sh` hold commands, blocks `console` commands behind `$ ` with their
 * output. `sh example` is not run. A comment `# exits with N` says how a command ends.
 */
export function guideCommands(path: string): GuideCommand[] {
  return [...readFileSync(path, 'utf8').matchAll(BLOCK)].flatMap(([, language, info, text = '']) => {
    if (info === 'example') return []
    if (language === 'console') return [...text.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)].map(toCommand)
    if (language !== 'sh') return []
    const lines = text.replaceAll('\\\n', ' ').split('\n')
    return lines.filter(line => line.trim() && !line.startsWith('#')).map(line => toCommand(['', line]))
  })
}

function toCommand([, line = '', output]: readonly (string | undefined)[]): GuideCommand {
  const code = Number(/# exits with (\d+)/.exec(line)?.[1] ?? 0)
  return { line, shown: output === undefined ? undefined : output.trimEnd().split('\n'), code }
}

/** What may differ from one run to the next: numbers, ports among them, and the width of columns. */
const settle = (line: string): string => line.replace(/\d+/g, 'N').replace(/\s+/g, ' ').trim()

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/** Whether the output is what the guide shows. A line `…` stands for any lines. */
export function looksLike(shown: readonly string[], output: string): boolean {
  const pattern = shown
    .map(line => (line.trim() === '…' ? '(?:.*\n)*?' : `${literally(settle(line))}\n`))
    .join('')
  const text = output.trimEnd().split('\n').map(settle).join('\n')
  return new RegExp(`^${pattern}$`).test(`${text}\n`)
}
