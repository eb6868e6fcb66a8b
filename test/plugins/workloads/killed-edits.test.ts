import { type ChildProcess, execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { openHome } from '../../e2e/home.ts'
import { engineProblem } from '../../support/engine-problem.ts'
import { needs } from '../../support/left-out.ts'

const IMAGE = 'keelson-test/node:24'
const REPEATS = 4

const SERVER = `
require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return
  const result = method === 'initialize'
    ? { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'n', version: '1' } } : {}
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
})`

const run = promisify(execFile)

type Moment = (round: string) => () => Promise<boolean> | boolean

/** Kills the command as soon as `when` holds, unless it has ended before. */
async function killWhen(command: ChildProcess, when: ReturnType<Moment>): Promise<void> {
  const ended = once(command, 'exit')
  while (command.exitCode === null && !(await when())) await setImmediate()
  command.kill('SIGKILL')
  await ended
}

test('what is saved runs, wherever an edit and its supervisor are killed', async context => {
  needs(context, engineProblem('docker', IMAGE))
  const home = await openHome()
  onTestFinished(() => home.close())
  await writeFile(join(home.path, 'server.cjs'), SERVER)
  const name = `kills-${process.pid}`
  const mounts = ['-v', `${home.path}/server.cjs:/srv/server.cjs:ro`]
  const flags = ['--runtime', 'docker', '--transport', 'stdio', '--no-isolate-network', '-e', 'ROUND=none']
  await home.ok(['run', IMAGE, '--name', name, ...flags, ...mounts, '--', 'node', '/srv/server.cjs'])
  const runConfig = join(home.path, '.local/state/keelson/runconfigs', `${name}.json`)
  const status = async () => JSON.parse(await home.ok(['list', '--all', '--format', 'json']))[0].status
  const statusFile = join(home.path, '.local/share/keelson/statuses', `${name}.json`)
  const isUp = async () => JSON.parse(await readFile(statusFile, 'utf8')).status === 'running'
  const roundSaved = async () => JSON.parse(await readFile(runConfig, 'utf8')).env_vars.ROUND
  const roundRunning = async () => {
    const format = '{{if .State.Running}}{{range .Config.Env}}{{println .}}{{end}}{{end}}'
    const { stdout } = await run('docker', ['inspect', '--format', format, name])
    return /^ROUND=(.*)$/m.exec(stdout)?.[1]
  }
  const moments: Readonly<Record<string, Moment>> = {
    'as it is about to save': () => () => existsSync(`${runConfig}.lock`),
    'as it has saved': round => async () => (await roundSaved()) === round,
    'as the server goes down': () => async () => !(await isUp()),
  }
  const all = Array.from({ length: REPEATS }, () => Object.entries(moments)).flat()
  for (const [index, [moment, when]] of all.entries()) {
    const round = String(index)
    const both = Math.floor(index / Object.keys(moments).length) % 2 === 1
    await killWhen(home.start(['edit', name, '-e', `ROUND=${round}`]), when(round))
    if (both) process.kill(await home.supervisor(), 'SIGKILL')
    await expect.poll(status, { timeout: 60_000 }).toBe('running')
    const found = async () => [await roundRunning().catch(() => 'none runs'), await roundSaved()]
    const isSame = async () => new Set(await found()).size === 1 || [moment, both, ...(await found())]
    await expect.poll(isSame, { timeout: 30_000 }).toBe(true)
  }
}, 400_000)
