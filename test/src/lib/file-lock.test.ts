import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { tryLock, withLock } from '../../../src/lib/file-lock.ts'

const path = () => join(mkdtempSync(join(tmpdir(), 'lock-')), 'deep', 'x.lock')
const wait = { timeoutMs: 10_000, onTimeout: () => new Error('waited too long') }

test('a second taker gets nothing until the first releases', async () => {
  const file = path()
  const first = await tryLock(file)
  expect(await tryLock(file)).toBeUndefined()
  await first?.release()
  expect(await tryLock(file)).toBeDefined()
})

test('many at once go one after the other and lose nothing', async () => {
  const file = path()
  let inside = 0
  let total = 0
  await Promise.all(
    Array.from({ length: 50 }, () =>
      withLock(
        file,
        async () => {
          expect(++inside).toBe(1)
          const before = total
          await Promise.resolve()
          total = before + 1
          inside--
        },
        wait,
      ),
    ),
  )
  expect(total).toBe(50)
})

test('the lock of a killed process is free', async () => {
  const file = path()
  const module = new URL('../../../src/lib/file-lock.ts', import.meta.url).href
  const code = `import(${JSON.stringify(module)}).then(m => m.tryLock(${JSON.stringify(file)})).then(() => { console.log('held'); setInterval(() => {}, 1000) })`
  const holder = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(holder.stdout, 'data')
  expect(await tryLock(file)).toBeUndefined()
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  const mine = await tryLock(file)
  expect(mine).toBeDefined()
  expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`^${process.pid}@`))
})

test('a lock whose number was given to another process is free', async () => {
  const file = path()
  await (await tryLock(file))?.release()
  writeFileSync(file, `${process.pid}@1`)
  expect(await tryLock(file)).toBeDefined()
})

test('the work failing releases the lock', async () => {
  const file = path()
  await expect(withLock(file, () => Promise.reject(new Error('no')), wait)).rejects.toThrow('no')
  expect(await tryLock(file)).toBeDefined()
})

test('waiting ends with the caller’s error', async () => {
  const file = path()
  await tryLock(file)
  await expect(withLock(file, async () => 1, { ...wait, timeoutMs: 30 })).rejects.toThrow('waited too long')
})

test('a link that leads nowhere is a lock that nobody gets, not an endless wait', async () => {
  const file = path()
  mkdirSync(dirname(file))
  symlinkSync('/no/such/place', file)
  expect(await tryLock(file)).toBeUndefined()
})
