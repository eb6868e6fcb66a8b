import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openHome } from './home.ts'
import { needsPlace } from './places-to-run.ts'

// How long `run` takes depends on how often the program of an engine is called. This counts calls and not time.

/** A stdio server in one line of Node, which responds to every request with an empty result. */
const SERVER = `require('readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id } = JSON.parse(line)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
})`

/** Calls that belong to no workload: the supervisor watches its instances, and looks for orphans when it begins. */
const BACKGROUND = /^(?:events|ps|network ls|network inspect)/
/** What commands ask an engine on this host once in a minute. */
const KEPT = /^(?:info|version)/

/** A home in which the engine's program notes each call, and a supervisor that hosts one workload already. */
async function homeThatNotesCalls(engine: string) {
  const home = await openHome()
  onTestFinished(() => home.close())
  const calls = join(home.path, 'calls')
  const folder = join(home.path, 'noting')
  await mkdir(folder)
  const script = `#!/bin/sh\necho "$1 $2" >> ${calls}\nPATH=${home.env.PATH} exec ${engine} "$@"\n`
  await writeFile(join(folder, engine), script, { mode: 0o755 })
  home.env.PATH = `${folder}:${home.env.PATH}`
  let runs = 0
  const run = async (...flags: string[]) => {
    const where = ['--runtime', engine, '--name', `calls-${process.pid}-${++runs}`, '--transport', 'stdio']
    await home.ok(['run', 'keelson-test/node:24', ...where, ...flags, '--', 'node', '-e', SERVER])
  }
  await run()
  return {
    /** The calls of a `run`, in order of the alphabet: of podman those until there is a container. */
    async callsOfRun(...flags: string[]) {
      await writeFile(calls, '')
      await run(...flags)
      const all = (await readFile(calls, 'utf8')).split('\n').map(call => call.replace(/ -.*/, ''))
      const until = engine === 'docker' ? all : all.slice(0, all.indexOf('create') + 1)
      const own = until.filter(call => call && !BACKGROUND.test(call))
      const kept = own.filter(call => KEPT.test(call))
      expect(kept).toEqual([...new Set(kept)])
      return own.filter(call => !KEPT.test(call)).sort()
    },
  }
}

test.for([
  ['docker', [], []], // all of it goes over its socket
  ['podman', ['create', 'image inspect'], ['network create']],
] as const)('run on %s asks each thing once', { timeout: 120_000 }, async (row, context) => {
  const [engine, calls, isolation] = row
  needsPlace(context, engine)
  const { callsOfRun } = await homeThatNotesCalls(engine)

  expect(await callsOfRun('--isolate-network=false')).toEqual(calls)
  expect(await callsOfRun()).toEqual([...calls, ...isolation].sort())
})
