import { expect, test } from 'vitest'
import { listBuilt } from '../../../plugins/runtime-docker/built-images.ts'

test('only images with a name of keelson or without any are listed', async () => {
  const lines = [
    'a1\tkeelson.local/npx-server:0123\t10MB',
    'b2\t<none>:<none>\t1MB',
    'c3\tghcr.io/me/server:1\t1MB', // keelson build --tag
    'd4\tmine:latest\t1MB', // FROM keelson.local/…
    'e5\tghcr.io/stranger/server:<none>\t1MB', // pulled by digest
    'f6\tghcr.io/keelson.local/server:1\t1MB',
    'a7\tkeelson.local/building:0-fetched\t1MB',
  ]
  const cli = {
    run: async () => lines.join('\n'),
    open: () => expect.unreachable(),
    listen: () => expect.unreachable(),
  }
  expect((await listBuilt(cli)).map(({ name }) => name)).toEqual(['keelson.local/npx-server:0123', 'b2'])
})
