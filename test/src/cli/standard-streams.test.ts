import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'

const STREAMS = new URL('../../../src/cli/standard-streams.ts', import.meta.url).href
/** Prints a million numbered lines, and tells on standard error whether Node's stream was needed. */
const PROGRAM = `
import { standardStreams } from ${JSON.stringify(STREAMS)}
let opened = false
const { get } = Object.getOwnPropertyDescriptor(process, 'stdout')
Object.defineProperty(process, 'stdout', { get() { opened = true; return get.call(process) } })
const { out } = standardStreams()
for (let i = 0; i < 200; i++) out.write(Array.from({ length: 5000 }, (_, n) => i * 5000 + n + '\\n').join(''))
process.stderr.write(String(opened))
`
const LINES = `${Array.from({ length: 1_000_000 }, (_, n) => n).join('\n')}\n`

test('a file gets all lines, without Node opening its stream', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const run = spawn('sh', [
    '-c',
    '"$0" --input-type=module -e "$1" > "$2"',
    process.execPath,
    PROGRAM,
    `${folder}/f`,
  ])

  expect(await text(run.stderr)).toBe('false')
  expect(readFileSync(`${folder}/f`, 'utf8')).toBe(LINES)
})

test('a slow reader of a pipe that does not block gets all lines in their order', async () => {
  const parts: string[] = []
  // The shell of Python makes the pipe non-blocking for both, as a program that shares it may.
  const program = `
import os, subprocess, sys, time
r, w = os.pipe()
os.set_blocking(w, False)
child = subprocess.Popen(sys.argv[1:], stdout=w)
os.close(w)
time.sleep(0.5)
while True:
    part = os.read(r, 65536)
    if not part: break
    os.write(1, part)
sys.exit(child.wait())`
  const run = spawn('python3', ['-c', program, process.execPath, '--input-type=module', '-e', PROGRAM])
  run.stdout.setEncoding('utf8').on('data', part => parts.push(part))

  expect(await text(run.stderr)).toBe('true')
  expect(run.exitCode ?? (await once(run, 'close'))[0]).toBe(0)
  expect(parts.join('')).toBe(LINES)
})

test('a reader that has seen enough ends the program quietly', async () => {
  const program = '{ "$0" --input-type=module -e "$1"; echo "ended with $?" >&2; } | head -n 1'
  const run = spawn('sh', ['-c', program, process.execPath, PROGRAM])

  const [shown, said] = await Promise.all([text(run.stdout), text(run.stderr)])

  expect({ shown, said }).toEqual({ shown: '0\n', said: 'ended with 0\n' })
})
