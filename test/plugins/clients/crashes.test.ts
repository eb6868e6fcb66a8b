import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { parse } from 'jsonc-parser'
import { expect, test } from 'vitest'
import { writeFileAtomic } from '../../../src/lib/atomic-file.ts'
import { bundled } from '../../support/bundled.ts'
import { series } from '../../support/series.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { deskAt, up } from './desk.ts'

const program = bundled(new URL('./sync-program.ts', import.meta.url))
const dieAtWrite = bundled(new URL('./die-at-write.ts', import.meta.url))

const MINE =
  '{\n  // my theme\n  "theme": "dark",\n  "mcpServers": {\n    "own": { "command": "x" }, // stays\n  },\n}\n'

/** A home with a file of the user's and Cursor registered, nothing running yet. */
async function prepared() {
  const home = await temporaryFolder()
  const desk = deskAt(home)
  await desk.write('cursor', MINE)
  await desk.clients.register(['cursor'])
  return { home, ...desk }
}

test('many processes at once, some killed: no entry and nothing of the user’s is lost', async () => {
  const { home, clients, read, fileOf } = await prepared()
  const names = Array.from(
    { length: series({ usual: 20, long: 50 }) },
    (_, i) => `w${String(i).padStart(2, '0')}`,
  )
  const ended = await Promise.all(
    names.map(async (name, i) => {
      const writer = execa(process.execPath, [program, home, name], { reject: false })
      if (i % 5 !== 0) return writer
      const timer = setTimeout(() => writer.kill('SIGKILL'), 50 + i * 100)
      return writer.finally(() => clearTimeout(timer))
    }),
  )
  expect(ended.some(({ signal }) => signal === 'SIGKILL')).toBe(true)
  for (const { exitCode, signal, stderr } of ended) {
    if (signal !== 'SIGKILL')
      expect({ exitCode, stderr: stderr.slice(-500) }).toEqual({ exitCode: 0, stderr: '' })
  }
  expect(ended.some(({ exitCode }) => exitCode === 0)).toBe(true)

  // All of them run: whoever was killed before it had done its part is made up for.
  await deskAt(home, () => names.map(name => up(name))).clients.sync()
  const servers = parse(await read('cursor')).mcpServers
  expect(Object.keys(servers).sort()).toEqual(['own', ...names].sort())
  expect(await readFile(`${fileOf('cursor')}.keelson-backup`, 'utf8')).toBe(MINE)
  await clients.remove(['cursor'])
  expect(await read('cursor')).toBe(MINE)
}, 120_000)

test('kill -9 at any write leaves the old file or the new one, and the next round makes it right', async () => {
  const whole = await prepared()
  await execa(process.execPath, [program, whole.home, 'fetch'])
  const changed = await whole.read('cursor')
  expect(changed).toContain('"fetch"')

  let killed = 0
  for (let at = 1; ; at++) {
    const { home, read, clients, fileOf } = await prepared()
    const env = { KILL_AT: String(at) }
    const args = ['--import', dieAtWrite, program, home, 'fetch']
    const { signal } = await execa(process.execPath, args, { env, reject: false })
    if (signal !== 'SIGKILL') break
    killed++
    expect([MINE, changed]).toContain(await read('cursor'))

    await execa(process.execPath, [program, home, 'fetch'])
    expect(await read('cursor')).toBe(changed)
    expect(await readFile(`${fileOf('cursor')}.keelson-backup`, 'utf8')).toBe(MINE)
    await clients.remove(['cursor'])
    expect(await read('cursor')).toBe(MINE)
    expect((await readdir(dirname(fileOf('cursor')))).sort()).toEqual(['mcp.json', 'mcp.json.keelson-backup'])
  }
  expect(killed).toBeGreaterThan(10)
}, 120_000)

test('the same for taking an entry out', async () => {
  let killed = 0
  for (let at = 1; ; at++) {
    const { home, read, clients } = await prepared()
    const desk = deskAt(home)
    desk.workloads.push(up('fetch'))
    await desk.clients.sync()
    const before = await read('cursor')
    const args = ['--import', dieAtWrite, program, home]
    const { signal } = await execa(process.execPath, args, { env: { KILL_AT: String(at) }, reject: false })
    if (signal !== 'SIGKILL') break
    killed++
    expect([MINE, before]).toContain(await read('cursor'))
    expect(await clients.sync()).toEqual([])
    expect(await read('cursor')).toBe(MINE)
    expect(await clients.remove(['cursor'])).toEqual([])
    expect(JSON.parse(await readFile(join(home, 'state/clients/written.json'), 'utf8'))).toEqual({})
  }
  expect(killed).toBeGreaterThan(5)
}, 120_000)

test('what the client writes at the same moment is not overwritten', async () => {
  const { read, workloads, clients, fileOf } = await prepared()
  workloads.push(up('fetch'))
  const sync = clients.sync()
  // The client saves its file again and again while we edit it.
  let saves = 0
  const done = sync.then(() => true)
  const tick = () => new Promise<boolean>(resolve => setImmediate(() => resolve(false)))
  while (!(await Promise.race([done, tick()])) && saves < 5) {
    const text = await read('cursor')
    await writeFileAtomic(fileOf('cursor'), text.replace(/"theme": "[^"]*"/, `"theme": "${++saves}"`))
  }
  expect(await sync).toEqual([])
  const text = await read('cursor')
  expect(text).toContain(`"theme": "${saves || 'dark'}"`)
  expect((await readdir(dirname(fileOf('cursor')))).filter(file => file.endsWith('.keelson-tmp'))).toEqual([])
})
