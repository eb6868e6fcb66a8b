import { chmod, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createContainerRuntime } from '../../../plugins/runtime-docker/container-runtime.ts'
import { dockerDialect } from '../../../plugins/runtime-docker/docker-dialect.ts'
import { podmanDialect } from '../../../plugins/runtime-podman/podman-dialect.ts'
import { fakeProgram, saying } from '../../support/fake-program.ts'
import { instanceSpec } from '../../support/instance-spec.ts'

const DIALECTS = { docker: dockerDialect, podman: podmanDialect }
type Engine = keyof typeof DIALECTS

const runtimeWith = (engine: Engine, env: Record<string, string>) =>
  createContainerRuntime({ dialect: DIALECTS[engine], owner: 'test', env, folder: tmpdir() })

const spec = instanceSpec({ name: 'one', image: 'some/image:1' })

/** The engines' own words, as seen from docker 20.10 and 28 and podman 4.3. */
const troubles: readonly [engine: Engine, words: string, problem: RegExp, hint: RegExp][] = [
  [
    'docker',
    'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
    /not running/,
    /systemctl start docker/,
  ],
  [
    'docker',
    'failed to connect to the docker API at unix:///var/run/docker.sock; check if the path is correct and if the daemon is running: dial unix /var/run/docker.sock: connect: no such file or directory',
    /not running/,
    /systemctl start docker/,
  ],
  [
    'docker',
    'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get "http://%2Fvar%2Frun%2Fdocker.sock/v1.24/version": dial unix /var/run/docker.sock: connect: permission denied',
    /permission denied/,
    /group "docker"/,
  ],
  [
    'docker',
    'Cannot connect to the Docker daemon at tcp://127.0.0.1:1. Is the docker daemon running?',
    /cannot be reached/,
    /DOCKER_HOST/,
  ],
  [
    'docker',
    'error during connect: Get "http://bogus:2375/v1.50/version": dial tcp: lookup bogus on 10.0.0.1:53: no such host',
    /cannot be reached/,
    /DOCKER_HOST/,
  ],
  [
    'docker',
    'Failed to initialize: unable to resolve docker endpoint: context "zz": context not found: open /root/.docker/contexts/meta/4a/meta.json: no such file or directory',
    /context/,
    /docker context ls/,
  ],
  [
    'docker',
    'Error response from daemon: client version 1.50 is too new. Maximum supported API version is 1.41',
    /understand each other/,
    /DOCKER_API_VERSION/,
  ],
  [
    'docker',
    'error during connect: Post "http://%2Frun%2Fdocker.sock/v1.41/containers/8c6f/stop?t=8": EOF',
    /went away in the middle/,
    /Start it again/,
  ],
  [
    'podman',
    'Error: runc: runc create failed: unable to start container process: error setting rlimits for ready process: error setting rlimit type 6: operation not permitted: OCI permission denied',
    /resource limits/,
    /default_ulimits/,
  ],
  [
    'podman',
    'Error: crun: setrlimit `RLIMIT_NPROC`: Operation not permitted: OCI permission denied',
    /resource limits/,
    /default_ulimits/,
  ],
  [
    'podman',
    'Error: OCI runtime error: crun: cgroups in hybrid mode not supported, drop all controllers from cgroupv1',
    /cgroups/,
    /runtime = "runc"/,
  ],
  ['podman', 'Error: default OCI runtime "crun" not found: invalid argument', /missing/, /Install runc/],
  [
    'podman',
    'Cannot connect to Podman. Please verify your connection to the Linux system using `podman system connection list`, or try `podman machine init` and `podman machine start` to manage a new Linux VM',
    /cannot be reached/,
    /podman machine start/,
  ],
  [
    'podman',
    'Error: cannot set up namespace using "/usr/bin/newuidmap": exit status 1',
    /no ids/,
    /add-subuids/,
  ],
]

test.each(troubles)('a %s that says "%.60s" is explained by probe', async (engine, words, problem, hint) => {
  const runtime = runtimeWith(engine, await fakeProgram(engine, saying(words)))
  const probe = await runtime.probe()
  expect(probe).toEqual({
    ok: false,
    problem: expect.stringMatching(problem),
    hint: expect.stringMatching(hint),
  })
})

test.each(troubles)(
  'a %s that says "%.60s" when it starts is explained too',
  async (engine, words, _, hint) => {
    const runtime = runtimeWith(engine, await fakeProgram(engine, saying(words)))
    await expect(runtime.start('one')).rejects.toMatchObject({
      code: 'runtime_unavailable',
      hint: expect.stringMatching(hint),
    })
  },
)

test.each(['docker', 'podman'] as const)('without the program %s, probe says how to get it', async engine => {
  const runtime = runtimeWith(engine, { PATH: '/nowhere' })
  expect(await runtime.probe()).toEqual({
    ok: false,
    absent: true,
    problem: `there is no program "${engine}" in the PATH.`,
    hint: expect.stringContaining('Install'),
  })
  await expect(runtime.list()).rejects.toMatchObject({ code: 'runtime_unavailable' })
  await expect(runtime.create(spec)).rejects.toMatchObject({ code: 'runtime_unavailable' })
})

test('a program that may not be executed is a problem, not a crash', async () => {
  const env = await fakeProgram('docker', 'exit 0')
  const folder = env.HOME ?? ''
  await chmod(join(folder, 'docker'), 0o644)
  expect(await runtimeWith('docker', { PATH: folder }).probe()).toMatchObject({
    ok: false,
    problem: expect.stringContaining('EACCES'),
  })
})

test('a replacement program that names no engine is not taken for docker', async () => {
  const env = await fakeProgram('docker', `echo '{"Client":{"Version":"4.3.1","APIVersion":"4.3.1"}}'`)
  expect(await runtimeWith('docker', env).probe()).toMatchObject({ ok: false, hint: /--runtime/ })
})

test('an engine that never responds is given up when the caller says so', async () => {
  const runtime = runtimeWith('docker', await fakeProgram('docker', 'exec sleep 600'))
  const probe = await runtime.probe(AbortSignal.timeout(200))
  expect(probe).toEqual({ ok: false, problem: 'it did not respond in time.', hint: expect.any(String) })
})

test('what the engine says is passed on without secrets', async () => {
  const words = 'Error response from daemon: cannot use https://user:hunter22@registry.example.com/v2/'
  const runtime = runtimeWith('docker', await fakeProgram('docker', saying(words)))
  const failure = await runtime.list().catch(error => error)
  expect(failure).toMatchObject({ code: 'runtime_failed', message: /registry\.example\.com/ })
  expect(failure.message).not.toContain('hunter22')
})

test('watching without an engine says that it is gone', async () => {
  for (const env of [{ PATH: '/nowhere' }, await fakeProgram('docker', 'exit 1')]) {
    const events = []
    for await (const event of runtimeWith('docker', env).watch(new AbortController().signal))
      events.push(event)
    expect(events).toEqual([{ kind: 'gone' }])
  }
})

test('noise between the events is passed over', async () => {
  const event = `{"Action":"start","Actor":{"Attributes":{"name":"one","keelson":"true","keelson-owner":"test"}}}`
  const env = await fakeProgram('docker', `echo WARNING; echo '{}'; echo '[1]'; echo '${event}'`)
  const events = []
  for await (const event of runtimeWith('docker', env).watch(new AbortController().signal)) events.push(event)
  expect(events).toEqual([{ kind: 'started', name: 'one' }, { kind: 'gone' }])
})

test('an engine without the helper behind --init makes the instance without it', async () => {
  const script = `case "$*" in
  *"container inspect"*) echo "Error: no such container one" >&2; exit 125;;
  info*) echo '{"host":{}}';;
  create*--init*) echo "Error: container-init binary not found on the host: stat /usr/libexec/podman/catatonit: no such file or directory" >&2; exit 125;;
  create*) echo "$*" >>"$HOME/created";;
esac`
  const env = await fakeProgram('podman', script)
  await runtimeWith('podman', env).create(spec)
  expect(await readFile(join(env.HOME ?? '', 'created'), 'utf8')).toMatch(/^create --name=one /)
})

test('a registry that breaks off is not mistaken for the engine', async () => {
  const runtime = runtimeWith('docker', await fakeProgram('docker', saying('unexpected EOF')))
  await expect(runtime.images?.pull('some/image:1')).rejects.toMatchObject({ code: 'pull_failed' })
})

test.each([
  'Error response from daemon: manifest for 127.0.0.1:5000/a:1 not found: manifest unknown: manifest unknown',
  'Error response from daemon: pull access denied for a, repository does not exist or may require login',
  'Error: initializing source docker://a:1: reading manifest 1 in 127.0.0.1:5000/a: manifest unknown',
  'Error: reading manifest 1 in docker.io/a/a: requested access to the resource is denied',
])('an image that its registry does not have is not found: %s', async words => {
  const runtime = runtimeWith('docker', await fakeProgram('docker', saying(words)))
  await expect(runtime.images?.pull('some/image:1')).rejects.toMatchObject({
    code: 'image_unknown',
    status: 404,
  })
})

test('a build whose cached step was removed by another program is begun again, once', async () => {
  const words =
    'checking if cached image exists from a previous build: getting top layer info: layer not known'
  const script = `case "$1" in build) echo again >>"$HOME/builds"; test -e "$HOME/works" -a "$(wc -l <"$HOME/builds")" -gt 1 || { echo "${words}" >&2; exit 125; };; esac`
  const env = await fakeProgram('podman', script)
  const { images } = runtimeWith('podman', env)
  const build = () =>
    images?.build({ tag: 'one:1', context: env.HOME ?? '', dockerfile: 'FROM scratch\n', labels: {} })

  await expect(build()).rejects.toMatchObject({ code: 'build_failed' })
  expect(await readFile(join(env.HOME ?? '', 'builds'), 'utf8')).toBe('again\nagain\n')
  await writeFile(join(env.HOME ?? '', 'works'), '')
  await writeFile(join(env.HOME ?? '', 'builds'), '')
  await build()
  expect(await readFile(join(env.HOME ?? '', 'builds'), 'utf8')).toBe('again\nagain\n')
})
