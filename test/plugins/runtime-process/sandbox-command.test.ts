import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { allNeed } from '../../support/left-out.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { hostRuntime } from './host-runtime.ts'
import { shellInstance } from './shell-instance.ts'

const hasBubblewrap = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', 'true']).status === 0

describe('inside bubblewrap', () => {
  allNeed(hasBubblewrap ? undefined : 'bubblewrap does not work here')

  const said = async (script: string, home?: string) => {
    const runtime = hostRuntime(home ?? (await temporaryFolder()), { sandbox: true })
    onTestFinished(() => runtime.remove('w'))
    await runtime.create(shellInstance(script))
    await runtime.start('w')
    return text(await runtime.logs('w', { follow: true }))
  }

  test('files of the host cannot be seen', async () => {
    const home = await temporaryFolder()
    await writeFile(join(home, 'private'), 'secret')
    expect(await said(`cat ${home}/private /etc/shadow || echo nothing`, home)).toMatch(
      /No such file[\s\S]*nothing/,
    )
  })

  test('the system and the package can only be read', async () => {
    const home = await temporaryFolder()
    await mkdir(join(home, 'package'))
    for (const folder of ['/usr', '/', join(home, 'package')]) {
      expect(await said(`touch ${folder}/made-here || echo kept out`, home)).toContain('kept out')
    }
  })

  test('home and /tmp are its own and can be written', async () => {
    expect(await said('touch ~/a /tmp/b && ls -d ~/* /tmp/b && pwd')).toBe(
      '/home/keelson/a\n/tmp/b\n/home/keelson\n',
    )
  })

  test('processes of the host cannot be seen', async () => {
    expect(await said(`test -d /proc/${process.ppid}/cwd && echo seen || echo unseen`)).toBe('unseen\n')
  })

  test('settings of the kernel cannot be changed', async () => {
    expect(await said('echo x >/proc/sys/kernel/domainname || echo kept out')).toContain('kept out')
    expect(await said('echo h >/proc/sysrq-trigger || echo kept out')).toContain('kept out')
  })

  test('no capability is left', async () => {
    expect(await said('grep CapEff /proc/self/status')).toMatch(/CapEff:\s*0+\n/)
  })

  test('without a network nothing can be reached', async () => {
    const runtime = hostRuntime(await temporaryFolder(), { sandbox: true })
    onTestFinished(() => runtime.remove('w'))
    await runtime.create(shellInstance('cat /proc/net/dev', { stdio: true, network: 'none' }))
    const { stdout, stdin } = await runtime.attach('w')
    stdin.end()
    const devices = (await text(stdout))
      .split('\n')
      .slice(2)
      .map(line => line.split(':')[0]?.trim())
      .filter(Boolean)
    expect(devices).toEqual(['lo'])
  })
})
