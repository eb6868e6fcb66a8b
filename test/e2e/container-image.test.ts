import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import {
  buildImage,
  docker,
  NODE_IMAGE,
  needsImage,
  RESTRICTED,
  startContainer,
} from '../support/keelson-image.ts'

const fixtures = new URL('../../fixtures/kubernetes', import.meta.url).pathname

async function call(url: string, name: string, args: object): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  })
  return response.text()
}

test('the image has no shell, runs without root on a read-only root, and its proxy reaches a server', {
  timeout: 300_000,
}, async context => {
  needsImage(context)
  const id = `keelson-image-${randomUUID().slice(0, 8)}`
  const image = `${id}:test`
  onTestFinished(() => {
    for (const command of [`rm --force ${id}-server ${id}-proxy`, `network rm ${id}`, `rmi ${image}`]) {
      spawnSync('docker', command.split(' '))
    }
  })
  await buildImage(image)
  expect(docker('run', '--rm', ...RESTRICTED, '--tmpfs', '/home/keelson', image, 'version')).toContain(
    'keelson ',
  )
  expect(docker('inspect', '--format', '{{.Config.User}}', image)).toBe('1000:1000')
  expect(() => docker('run', '--rm', '--entrypoint', '/bin/sh', image, '-c', 'true')).toThrow()

  docker('network', 'create', '--internal', id)
  const server = startContainer(`${id}-server`, id, [
    ...['--volume', `${fixtures}:/fixtures:ro`, '--env', 'PORT=3000'],
    ...[NODE_IMAGE, 'node', '/fixtures/http-server.mjs'],
  ])
  const proxy = startContainer(`${id}-proxy`, id, [
    ...[...RESTRICTED, '--tmpfs', '/home/keelson:uid=1000', image],
    ...['proxy', 'notes', '--target-uri', `http://${server}:3000/mcp`, '--host', '0.0.0.0', '--port', '8080'],
  ])
  const url = `http://${proxy}:8080`
  await expect
    .poll(
      () =>
        fetch(`${url}/health`).then(
          ({ status }) => status,
          () => 0,
        ),
      { timeout: 60_000 },
    )
    .toBe(200)
  expect(await call(`${url}/mcp`, 'echo', { text: 'from the image' })).toContain('from the image')
})
