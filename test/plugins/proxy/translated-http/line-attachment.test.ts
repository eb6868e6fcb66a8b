import { expect, test } from 'vitest'
import { createLineAttachment } from '../../../../plugins/proxy/translated-http/line-attachment.ts'

test('beyond the limit messages wait until the server has responded to others', async () => {
  const taken: (() => void)[] = []
  const { attachment } = createLineAttachment({
    onMessage: () => new Promise(resolve => taken.push(resolve)),
    onDetach() {},
    maxKeptBytes: 100,
  })
  const { stdin } = attachment
  const line = `{"jsonrpc":"2.0","method":"m","params":{"text":"${'x'.repeat(20)}"}}\n`
  for (let n = 0; n < 3; n++) stdin.write(line)
  expect(taken).toHaveLength(2)
  expect(stdin.writableLength).toBe(2 * line.length)
  taken[0]?.()
  await expect.poll(() => taken.length).toBe(3)
  for (const done of taken) done()
  await expect.poll(() => stdin.writableLength).toBe(0)
})
