import { readFile, stat } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { writeKeyFile } from '../../../plugins/secrets/key-file.ts'
import type { Paths } from '../../../src/paths.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

test('setups at once get one key', async () => {
  const paths = { config: await temporaryFolder() } as Paths
  const setUp = async () => readFile(await writeKeyFile(paths), 'utf8')
  const keys = await Promise.all(Array.from({ length: 8 }, setUp))
  keys.push(await setUp())
  expect(new Set(keys).size).toBe(1)
  expect(keys[0]?.trim()).toHaveLength(43)
  expect((await stat(await writeKeyFile(paths))).mode & 0o777).toBe(0o600)
})
