import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientV1, textOf } from '../e2e/clients.ts'
import { type Home, openHome, until } from '../e2e/home.ts'
import { needsPlace } from '../e2e/places-to-run.ts'
import { startApi } from '../support/api-server.ts'
import { plantPackage, STRANGER } from '../support/hostile/plant-package.ts'
import { keelsonUser } from '../support/keelson.ts'
import { leaveOut, needs } from '../support/left-out.ts'
import { main } from '../support/main.ts'

// What a stranger's package does once it runs as a process of this host, in bubblewrap.

const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97

const processIds = () => readdirSync('/proc').filter(name => /^\d+$/.test(name))
const readProc = (pid: string, file: string) => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
/** Processes in a control group; none where it has gone. */
const membersOf = (group: string): string[] => {
  try {
    return readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}
const namespaceOf = (pid: string) => {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    return ''
  }
}
/** Listening TCP sockets of a process, by the inodes of its files. */
function listens(pid: number): string[] {
  const inodes = readdirSync(`/proc/${pid}/fd`).flatMap(fd => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
    } catch {
      return []
    }
  })
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode = '']) => state === '0A' && inodes.includes(inode))
    .map(([, local = '']) => local)
}

describe('in bubblewrap', { timeout: 240_000 }, () => {
  let home: Home
  let folder: string
  let url: string
  const call = async (script: string, at = url) => {
    const client = await clientV1(at)
    return textOf(
      await client.callTool({ name: 'shell', arguments: { script } }, undefined, { timeout: 120_000 }),
    )
  }
  beforeAll(async () => {
    home = await openHome()
    folder = await plantPackage(home.path)
    const env = ['-e', `NODE_OPTIONS=--require ${folder}/canary.cjs`, '-e', `CANARY=${home.path}/sung`]
    url = await home.ok(['run', STRANGER, '--name', 'stranger', '--runtime', 'process', ...env])
  }, 120_000)
  afterAll(() => home?.close(), 120_000)

  test('no program outside the sandbox gets the variables of the server', async () => {
    expect(await call('echo $CANARY')).toContain(`${home.path}/sung`)
    const record = join(home.path, '.local/share/keelson/processes/stranger/instance.json')
    const { id } = JSON.parse(await readFile(record, 'utf8')) as { id: string }
    const outside = processIds()
      .filter(pid => readProc(pid, 'environ').includes(id) && namespaceOf(pid) === namespaceOf('self'))
      .map(pid => readProc(pid, 'environ').split('\0').filter(Boolean))
    expect(outside.length).toBeGreaterThan(0) // bubblewrap itself
    for (const variables of outside) {
      expect(variables.filter(text => !/^(KEELSON_INSTANCE|PWD|SHLVL|_|OLDPWD)=/.test(text))).toEqual([])
    }
    expect(processIds().filter(pid => readProc(pid, 'cmdline').includes(`${home.path}/sung`))).toEqual([])
    expect(existsSync(join(home.path, 'sung'))).toBe(false)
  })

  test('system calls that no server needs are refused, the others go on working', async () => {
    const text = await call(`python3 ${folder}/try-calls.py`)
    const errors = new Map(
      text.split('\n').flatMap(line => {
        const [, name, errno] = /^([\w-]+) (-?\d+)$/.exec(line) ?? []
        return name === undefined ? [] : [[name, Number(errno)] as const]
      }),
    )
    expect(text).toContain('ended: 0')
    expect(errors.size).toBeGreaterThan(60)
    const missing = ['clone3', 'unknown', 'x32-getpid', 'i386-getpid']
    const families = ['vsock', 'packet', 'alg']
    for (const [name, errno] of errors) {
      const wanted = name.startsWith('allowed-')
        ? name === 'allowed-process_madvise' || name === 'allowed-ioctl'
          ? expect.not.toBeOneOf([EPERM, ENOSYS]) // no such process, and no terminal
          : 0
        : missing.includes(name)
          ? ENOSYS
          : families.includes(name)
            ? EAFNOSUPPORT
            : EPERM
      expect({ name, errno }).toEqual({ name, errno: wanted })
    }
  })

  test('no user namespace is to be had inside, so no capability either', async () => {
    const said = await call(
      'unshare --user --map-root-user id; bwrap --ro-bind / / id; grep CapEff /proc/self/status',
    )
    expect(said).not.toContain('uid=')
    expect(said).toMatch(/CapEff:\s*0+\n/)
  })

  test('processes of the host cannot be seen, nor their variables', async () => {
    const said = await call('cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr "\\0" "\\n"; ls /proc')
    expect(said).not.toContain('vitest')
    expect(said).not.toContain('supervisor')
    expect(said).not.toMatch(new RegExp(`^${process.pid}$`, 'm'))
  })

  test('files of the user cannot be read or written, and no core dump is left', async () => {
    await writeFile(join(home.path, 'private'), 'the secret of the user')
    const said = await call(`cat ${home.path}/private; touch ${home.path}/made; ulimit -c; ulimit -H -c`)
    expect(said).not.toContain('the secret')
    expect(existsSync(join(home.path, 'made'))).toBe(false)
    expect(said).toContain('0\n0\n')
  })

  test('a fork bomb stays within its limit of processes, and another server keeps running', async () => {
    const neighbour = await home.ok(['run', STRANGER, '--name', 'neighbour', '--runtime', 'process'])
    const bomb =
      'python3 -c "import os,time\nn=0\ntry:\n  while n<3000:\n    if os.fork()==0: time.sleep(20); os._exit(0)\n    n+=1\nexcept OSError as e: print(n, e.errno)\nelse: print(n, 0)"'
    const said = await call(bomb)
    expect(Number(/^(\d+) 11$/m.exec(said)?.[1])).toBeLessThan(512)
    expect(await call('echo still here', neighbour)).toContain('still here')
    await home.ok(['rm', 'neighbour'])
  })

  test('a server that wants more memory than it may have does not get it', async () => {
    const hog = await home.ok([
      ...['run', STRANGER, '--name', 'hog', '--runtime', 'process', '--memory', '300m'],
    ])
    const eat = 'python3 -c "b=[]\nfor i in range(30): b.append(bytearray(10**8)); print(len(b), flush=True)"'
    const said = await call(eat, hog).catch(() => 'the server was killed')
    expect(said).not.toMatch(/^30$/m)
    expect(await call('echo alive')).toContain('alive')
    await home.ok(['rm', 'hog'])
  })

  test('what was limited leaves no control group behind', async () => {
    // Other tests limit servers of their own meanwhile.
    const ours = () => {
      const { stdout } = spawnSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', 'keelson-*'])
      return stdout
        .toString()
        .split('\n')
        .filter(group => group && membersOf(group).some(pid => readProc(pid, 'cmdline').includes(home.path)))
    }
    const before = ours()
    await home.ok(['run', STRANGER, '--name', 'brief', '--runtime', 'process'])
    const made = ours().filter(group => !before.includes(group))
    expect(made).not.toEqual([])
    await home.ok(['rm', 'brief'])
    expect(made.filter(group => existsSync(group))).toEqual([])
  })

  test('the supervisor leaves no core dump and opens no inspector', async () => {
    const pid = await home.supervisor()
    expect(readProc(String(pid), 'limits')).toMatch(/Max core file size\s+0\s+0\s/)
    const before = listens(pid)
    expect(before).not.toEqual([]) // the proxy's
    process.kill(pid, 'SIGUSR1')
    await delay(1000)
    expect(listens(pid)).toEqual(before)
    expect(await home.supervisor()).toBe(pid)
    expect(readProc(String(pid), 'environ')).not.toContain('NODE_OPTIONS')
  })
})

describe('variables that no server is given', { timeout: 240_000 }, () => {
  const REFUSED = [
    'LD_PRELOAD',
    'LD_AUDIT',
    'DYLD_INSERT_LIBRARIES',
    'BASH_ENV',
    'GCONV_PATH',
    'KEELSON_INSTANCE',
  ]
  let home: Home
  let library: string
  let canary: string
  beforeAll(async () => {
    home = await openHome()
    const folder = await plantPackage(home.path)
    canary = join(home.path, 'sung')
    library = join(folder, 'canary.so')
    const source = new URL('../../fixtures/hostile/sandbox/canary.c', import.meta.url).pathname
    spawnSync('cc', ['-shared', '-fPIC', `-DCANARY="${canary}"`, '-o', library, source])
  })
  afterAll(() => home?.close(), 120_000)

  test('the library sings where it is let, or this file tests nothing', context => {
    needs(context, existsSync(library) ? undefined : 'no library could be made (cc)')
    spawnSync('/bin/true', [], { env: { LD_PRELOAD: library } })
    expect(existsSync(canary)).toBe(true)
    spawnSync('rm', [canary])
  })

  test.for(['docker', 'podman', 'process'] as const)(
    'are refused by name on %s: given, in a run config, from a file, by a secret',
    async (place, context) => {
      needsPlace(context, place)
      const what = place === 'process' ? STRANGER : 'keelson-test/node:24'
      const run = ['run', what, '--name', 'sings', '--runtime', place, '--transport', 'stdio']
      const config = {
        name: 'sings',
        image: what,
        transport: 'stdio',
        runtime: place,
        schema_version: 'v0.1.0',
      }
      for (const name of REFUSED) {
        const shown = await home.keelson([...run, '-e', `${name}=${library}`])
        expect(shown).toMatchObject({ code: 1, stderr: expect.stringContaining(`"${name}" cannot be set`) })
      }
      const file = join(home.path, 'config.json')
      await writeFile(file, JSON.stringify({ ...config, env_vars: { LD_PRELOAD: library } }))
      const env = join(home.path, 'variables')
      await writeFile(env, `LD_PRELOAD=${library}\n`)
      const folder = join(home.path, 'env.d')
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'one.env'), `LD_PRELOAD=${library}\n`)
      for (const args of [
        ['run', '--from-config', file],
        [...run, '--env-file', env],
        [...run, '--secret', 'TOKEN,target=LD_PRELOAD'],
      ]) {
        expect(await home.keelson(args)).toMatchObject({
          code: 1,
          stderr: expect.stringContaining('"LD_PRELOAD" cannot be set'),
        })
      }
      const shown = await home.keelson([...run, '--env-file-dir', folder])
      expect(shown.code).not.toBe(0)
      expect(shown.stderr).toContain('LD_PRELOAD')
      expect(existsSync(canary)).toBe(false)
    },
  )

  test('are refused in a registry entry', async context => {
    needsPlace(context, 'docker')
    const entry = {
      description: 'sings',
      image: 'keelson-test/node:24',
      transport: 'stdio',
      status: 'Active',
      tier: 'Community',
      tools: ['sing'],
      env_vars: [{ name: 'LD_PRELOAD', description: 'a voice', required: false, default: library }],
    }
    const file = join(home.path, 'registry.json')
    const document = { version: '1.0.0', last_updated: '2026-01-01T00:00:00Z', servers: { singer: entry } }
    await writeFile(file, JSON.stringify(document))
    await home.ok(['config', 'set-registry', file])
    const shown = await home.keelson([
      'run',
      'singer',
      '--runtime',
      'docker',
      '--image-verification',
      'disabled',
    ])
    expect(shown).toMatchObject({ code: 1, stderr: expect.stringContaining('"LD_PRELOAD" cannot be set') })
    expect(existsSync(canary)).toBe(false)
  })

  test('are refused over HTTP', async () => {
    const user = await keelsonUser()
    await plantPackage(user.home)
    const api = await startApi({ user })
    const answer = await api.ask('POST', '/api/v1beta/workloads', {
      name: 'sings',
      image: STRANGER,
      env_vars: { LD_PRELOAD: library },
    })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('LD_PRELOAD')
  })

  test.for(['docker', 'podman'] as const)(
    'none at all is one of the program %s on this host',
    async (engine, context) => {
      needsPlace(context, engine)
      const other = await openHome()
      try {
        const bin = join(other.path, 'bin')
        await mkdir(bin)
        const seen = join(other.path, 'seen')
        const real = spawnSync('sh', ['-c', `command -v ${engine}`])
          .stdout.toString()
          .trim()
        await writeFile(
          join(bin, engine),
          `#!/bin/sh\ncase " $* " in *" create "*|create*) { env; tr '\\0' ' ' </proc/$$/cmdline; echo; } >>${seen};; esac\nexec ${real} "$@"\n`,
        )
        await chmod(join(bin, engine), 0o755)
        const variables = [
          'NODE_OPTIONS=--no-warnings',
          'PATH=/usr/local/bin:/usr/bin:/bin',
          'DOCKER_HOST=tcp://stranger:1',
          'ANYTHING=of-a-stranger',
        ]
        await other.keelson(
          [
            ...[
              'run',
              'keelson-test/node:24',
              '--name',
              `sbx-${engine}`,
              '--runtime',
              engine,
              '--transport',
              'stdio',
            ],
            ...variables.flatMap(text => ['-e', text]),
            '--isolate-network=false',
            ...['--', 'node', '-e', 'process.exit(3)'],
          ],
          // With this variable docker's program may mean another container than its arguments say, so it is not left out.
          { env: { PATH: `${bin}:${process.env.PATH}`, DOCKER_CONTENT_TRUST: '0' } },
        )
        const text = await readFile(seen, 'utf8')
        expect(text).toContain('--env-file=')
        for (const variable of variables) expect(text).not.toContain(variable)
      } finally {
        await other.close()
      }
    },
  )
})

describe('on a machine without any sandbox', { timeout: 240_000 }, () => {
  let home: Home
  let tools: string
  const run = (...more: string[]) => home.keelson(['run', STRANGER, '--name', 'bare', ...more])
  beforeAll(async () => {
    home = await openHome()
    await plantPackage(home.path)
    tools = join(home.path, 'tools')
    await mkdir(tools)
    await symlink(process.execPath, join(tools, 'node'))
    await symlink('/usr/bin/env', join(tools, 'npm'))
    home.env.PATH = tools
  })
  afterAll(() => home?.close(), 120_000)

  test('a package is not run, and the failure says what to install', async () => {
    for (const more of [[], ['--runtime', 'process']]) {
      const { code, stdout, stderr } = await run(...more)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/bubblewrap \(bwrap\) is not installed/)
      expect(stderr).toMatch(/Install bubblewrap.*docker or podman/)
      expect(stderr).toContain('--no-sandbox')
    }
    expect(await home.ok(['list', '--all'])).toContain('no workloads')
    expect((await home.keelson(['runtime', 'check'])).code).toBe(1)
  })

  test('a bubblewrap that the kernel refuses counts as none', async () => {
    const fake = join(tools, 'bwrap')
    await writeFile(fake, '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n')
    await chmod(fake, 0o755)
    const { code, stderr } = await run()
    expect(code).toBe(1)
    expect(stderr).toMatch(/No permissions to create new namespace[\s\S]*user namespaces/)
    spawnSync('/bin/rm', [fake])
  })

  test('a file that asks to go without is not enough; the command line must say so too', async () => {
    const file = join(home.path, 'bare.json')
    const config = { name: 'bare', image: STRANGER, source: STRANGER, transport: 'stdio', no_sandbox: true }
    await writeFile(file, JSON.stringify(config))
    const { code, stderr } = await home.keelson(['run', '--from-config', file])
    expect(code).toBe(2)
    expect(stderr).toMatch(/without a sandbox \(no_sandbox\)[\s\S]*--no-sandbox/)
  })

  test('--no-sandbox insists: warned of, kept, shown by list, status and export, after a restart too', async () => {
    const { code, stdout, stderr } = await run('--no-sandbox')
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('without a sandbox') })
    const client = await clientV1(stdout)
    const shown = textOf(await client.callTool({ name: 'shell', arguments: { script: '/usr/bin/id' } }))
    expect(shown).toContain('uid=')
    const check = async () => {
      expect(await home.ok(['list'])).toContain('(no sandbox)')
      expect(JSON.parse(await home.ok(['list', '--format', 'json']))).toMatchObject([{ no_sandbox: true }])
      expect(await home.ok(['status', 'bare'])).toMatch(/Isolation:\s+none/)
      expect(JSON.parse(await home.ok(['status', 'bare', '--format', 'json']))).toMatchObject({
        no_sandbox: true,
      })
    }
    await check()
    await home.ok(['export', 'bare', join(home.path, 'exported.json')])
    expect(JSON.parse(await readFile(join(home.path, 'exported.json'), 'utf8'))).toMatchObject({
      no_sandbox: true,
    })
    await home.ok(['stop', 'bare'])
    await home.ok(['start', 'bare'])
    await check()
    const pid = await home.supervisor()
    process.kill(pid, 'SIGKILL')
    await home.ok(['list'])
    await until(check)
    await home.ok(['rm', 'bare'])
  })

  test('--no-sandbox does not go with containers, images or remote servers', async () => {
    for (const args of [
      [STRANGER, '--runtime', 'docker'],
      ['some/image', '--runtime', 'docker'],
      ['https://example.com/mcp'],
    ]) {
      const { code, stderr } = await home.keelson(['run', ...args, '--no-sandbox'])
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--no-sandbox') })
    }
  })

  test('over HTTP it is a member of its own, refused without, shown with', async () => {
    const user = await keelsonUser()
    await plantPackage(user.home)
    user.env.PATH = tools
    const api = await startApi({ user })
    const bare = { name: 'bare', image: STRANGER }
    const refused = await api.ask('POST', '/api/v1beta/workloads', bare)
    expect(refused).toMatchObject({ status: 503, text: expect.stringContaining('bubblewrap') })
    const made = await api.ask('POST', '/api/v1beta/workloads', { ...bare, no_sandbox: true })
    expect(made.status).toBe(201)
    await api.untilStatus('bare', 'running')
    expect(api.log()).toContain('without a sandbox')
    const listed = await api.ask('GET', '/api/v1beta/workloads')
    expect(listed.json()).toMatchObject({ workloads: [{ no_sandbox: true }] })
    const details = await api.ask('GET', '/api/v1beta/workloads/bare')
    expect(details.json()).toMatchObject({ no_sandbox: true })
    const edited = await api.ask('POST', '/api/v1beta/workloads/bare/edit', { image: STRANGER })
    expect(edited.status).toBe(503)
    await api.ask('DELETE', '/api/v1beta/workloads/bare')
  })
})

test('`serve` opens no inspector either, and leaves no core dump', async () => {
  const api = await startApi()
  const pid = api.process.pid ?? 0
  const before = listens(pid)
  process.kill(pid, 'SIGUSR1')
  await delay(1000)
  expect(listens(pid)).toEqual(before)
  await until(() => expect(readProc(String(pid), 'limits')).toMatch(/Max core file size\s+0\s+0\s/))
})

test('a user without root runs a package in the same sandbox', { timeout: 120_000 }, async context => {
  if (process.getuid?.() !== 0) leaveOut(context, 'the tests run without root, so the others show it')
  const home = await openHome()
  try {
    await plantPackage(home.path)
    spawnSync('chown', ['-R', '65534:65534', home.path])
    const as = (...args: string[]) =>
      spawnSync(
        'setpriv',
        [
          ...['--reuid', '65534', '--regid', '65534', '--clear-groups', process.execPath, '--', main],
          ...args,
        ],
        {
          cwd: home.path,
          env: { ...home.env, PATH: `${dirname(process.execPath)}:/usr/bin:/bin` },
          encoding: 'utf8',
        },
      )
    const { status, stdout, stderr } = as('run', STRANGER, '--name', 'nobody', '--runtime', 'process')
    expect(status, stderr).toBe(0)
    const client = await clientV1(stdout.trim())
    const call = async (script: string) =>
      textOf(await client.callTool({ name: 'shell', arguments: { script } }))
    expect(await call('id -u; grep Seccomp: /proc/self/status; unshare -U true')).toMatch(
      /65534\nSeccomp:\s*2\n.*failed/,
    )
    const bomb =
      'python3 -c "import os,time\nn=0\ntry:\n  while n<3000:\n    if os.fork()==0: time.sleep(20); os._exit(0)\n    n+=1\nexcept OSError as e: print(n, e.errno)"'
    expect(Number(/^(\d+) 11$/m.exec(await call(bomb))?.[1])).toBeLessThan(512)
    expect(as('rm', '--all').status).toBe(0)
  } finally {
    await home.close()
  }
})
