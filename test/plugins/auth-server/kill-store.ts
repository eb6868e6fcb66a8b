/**
 * Works on a store in a file until it is killed, and writes each thing that is done on a line. Arguments: the file,
 * and a number that no other process has.
 */
import { writeSync } from 'node:fs'
import { openSqliteStore } from '../../../plugins/auth-server/storage/sqlite-store.ts'

const [path = '', process = ''] = globalThis.process.argv.slice(2)
const HOUR = 3_600_000
const store = await openSqliteStore({ path, log: console })
/** At once, so that a kill takes nothing back that was said. */
const say = (text: string) => writeSync(1, `${text}\n`)

for (let step = 0; ; step++) {
  const key = `${process}-${step}`
  if (await store.add('grant', key, 'old', HOUR)) say(`added ${key}`)
  if (await store.replace('grant', key, 'old', 'new', HOUR)) say(`replaced ${key}`)
  if ((await store.take('code', `code-${step}`)) !== undefined) say(`took code-${step}`)
}
