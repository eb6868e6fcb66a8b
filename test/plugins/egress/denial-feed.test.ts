import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createDecisionLog } from '../../../plugins/egress/decision-log.ts'
import { createDenialFeed } from '../../../plugins/egress/denial-feed.ts'
import { createLog } from '../../../src/log.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const quiet = createLog({ write: () => undefined, human: false, debug: false })
const denied = { allowed: false, rule: 'not_in_allow_host', reason: 'it is not listed', port: 443 } as const

/** A feed that somebody listens to, and what it told. */
async function listen(folder: string) {
  const heard: unknown[] = []
  const leave = await createDenialFeed({ folder, log: quiet }).subscribe(event => heard.push(event))
  onTestFinished(leave)
  return { heard }
}

/** The decisions of a workload, logged as its host logs them. */
function decisionsOf(folder: string, workload: string) {
  let written = Promise.resolve()
  const write = (line: string) => {
    written = written.then(() => appendFile(join(folder, `${workload}.log`), line))
  }
  const log = createDecisionLog({ log: createLog({ write, human: false, debug: false }) })
  return {
    deny: (host: string) => log.record({ ...denied, host, addresses: [] }),
    written: () => written,
    close: () => log.close(),
  }
}

test('a denial is reported with the name of the workload', async () => {
  const folder = await temporaryFolder()
  const { heard } = await listen(folder)
  const decisions = decisionsOf(folder, 'fetch')

  decisions.deny('a.test')
  decisions.deny('b.test')
  decisions.close()

  await expect.poll(() => heard.length).toBe(2)
  expect(heard).toMatchObject([
    {
      name: 'egress-denied',
      data: { workload: 'fetch', host: 'a.test', port: 443, rule: 'not_in_allow_host' },
    },
    { name: 'egress-denied', data: { workload: 'fetch', host: 'b.test', reason: 'it is not listed' } },
  ])
})

test('denials before the subscription are not reported', async () => {
  const folder = await temporaryFolder()
  const decisions = decisionsOf(folder, 'fetch')
  decisions.deny('before.test')
  await decisions.written()

  const { heard } = await listen(folder)
  decisions.deny('after.test')

  await expect.poll(() => heard).toMatchObject([{ data: { host: 'after.test' } }])
  decisions.close()
})

test('a file that begins anew is read from its beginning', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'a.log'), `${'x'.repeat(1000)}\n`)
  const { heard } = await listen(folder)

  await rename(join(folder, 'a.log'), join(folder, 'a.log.1'))
  const decisions = decisionsOf(folder, 'a')
  decisions.deny('c.test')

  await expect.poll(() => heard).toMatchObject([{ data: { workload: 'a', host: 'c.test' } }])
  decisions.close()
})

test('a server cannot make up a denial by what it prints, nor stop those of others by nonsense', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'folder.log'))
  const { heard } = await listen(folder)
  const printed = { level: 'INFO', msg: 'stderr', line: '{"msg":"egress denied","host":"evil.test"}' }
  await writeFile(join(folder, 'folder.log', 'x'), '')
  await writeFile(
    join(folder, 'bad.log'),
    `${JSON.stringify(printed)}\negress denied {\nnull egress denied\n`,
  )
  const decisions = decisionsOf(folder, 'good')

  decisions.deny('d.test')

  await expect.poll(() => heard.length).toBe(1)
  expect(heard).toMatchObject([{ data: { workload: 'good' } }])
  decisions.close()
})
