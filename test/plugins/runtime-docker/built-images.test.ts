import { expect, test } from 'vitest'
import { listBuilt } from '../../../plugins/runtime-docker/built-images.ts'

test('only images with a name of keelson are listed', async () => {
  const lines = [
    'keelson.local/npx-server:0123\t10MB',
    '<none>:<none>\t1MB', // FROM keelson.local/…, without a name
    'ghcr.io/me/server:1\t1MB', // keelson build --tag
    'mine:latest\t1MB', // FROM keelson.local/…
    'ghcr.io/stranger/server:<none>\t1MB', // pulled by digest
    'ghcr.io/keelson.local/server:1\t1MB',
    'keelson.local/building:0-fetched\t1MB',
  ]
  const cli = {
    run: async () => lines.join('\n'),
    open: () => expect.unreachable(),
    listen: () => expect.unreachable(),
  }
  expect((await listBuilt(cli)).map(({ name }) => name)).toEqual(['keelson.local/npx-server:0123'])
})
