import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { findFreePort, isPortFree } from '../../src/lib/ports.ts'
import { rpc } from '../plugins/proxy/test-proxy.ts'
import { keepingServer, named, sendTo, webhookProxy } from '../plugins/webhooks/webhook-world.ts'

const PAGE = new URL('../../docs/webhooks.md', import.meta.url)

test('the webhook of the page decides as the page says', async () => {
  const [, program = ''] = /```js\n([\s\S]*?)```/.exec(await readFile(PAGE, 'utf8')) ?? []
  expect(program).toContain('.listen(9000, ')
  const port = await findFreePort()
  const child = spawn(
    process.execPath,
    ['--input-type=module', '--eval', program.replace('.listen(9000, ', `.listen(${port}, `)],
    { stdio: 'inherit' },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  await expect.poll(() => isPortFree(port, '127.0.0.1')).toBe(false)

  const { target, reached } = await keepingServer()
  const proxy = await webhookProxy(
    { validating_webhooks: [named('page', `http://127.0.0.1:${port}`)] },
    { target },
  )
  const as = (groups: readonly string[]) => ({
    'x-user': JSON.stringify({ issuer: 'https://login.example', subject: 'ada', claims: {}, groups }),
  })
  const remove = rpc('tools/call', 1, { name: 'delete_file' })
  const { status, json } = await sendTo(proxy.url, remove)
  expect([status, json.error.code]).toEqual([403, 403])
  expect((await sendTo(proxy.url, remove, as(['staff']))).status).toBe(403)
  expect((await sendTo(proxy.url, remove, as(['admins']))).status).toBe(200)
  expect((await sendTo(proxy.url, rpc('tools/call', 1, { name: 'read_file' }))).status).toBe(200)
  expect(reached.map(({ body }) => JSON.parse(body).params.name)).toEqual(['delete_file', 'read_file'])
})
