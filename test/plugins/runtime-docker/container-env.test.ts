import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { splitEnv, withEnvFile } from '../../../plugins/runtime-docker/container-env.ts'

test.each(['PATH', 'DOCKER_HOST', 'NODE_OPTIONS', 'https_proxy', 'API_TOKEN', 'anything'])(
  '%s goes through a file, so that the program on this host does not have it',
  name => {
    expect(splitEnv({ [name]: 'x' })).toEqual({ inherited: {}, filed: { [name]: 'x' } })
  },
)

test.each(['API_TOKEN', 'GITHUB_TOKEN', 'GOOGLE_KEY', 'SSH_PRIVATE_KEY', 'PATHS', 'MY_HOME'])(
  '%s goes through the environment of the program where a file cannot hold it',
  name => {
    for (const value of ['a\nb', 'a\rb', 'x'.repeat(65_536)]) {
      expect(splitEnv({ [name]: value })).toEqual({ inherited: { [name]: value }, filed: {} })
    }
  },
)

test.each(['HTTP_PROXY', 'NODE_OPTIONS', 'PYTHONSTARTUP', 'DOCKER_CONFIG', 'GIT_SSH_COMMAND', 'GODEBUG'])(
  '%s is refused where a file cannot hold it',
  name => {
    for (const value of ['a\nb', 'a\rb', 'x'.repeat(65_536)]) {
      expect(() => splitEnv({ [name]: value })).toThrow(
        expect.objectContaining({ code: 'env_refused', message: expect.stringContaining(name) }),
      )
    }
  },
)

test.each(['', 'A=B', 'A*', 'A B', 'A\nB', 'A\0'])('%j is not a name', name => {
  expect(() => splitEnv({ [name]: 'x' })).toThrow(expect.objectContaining({ code: 'env_refused' }))
})

test('a refusal does not show the value', () => {
  expect(() => splitEnv({ HTTP_PROXY: 'hunter2\nx' })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
  )
})

const filesOfOurs = async () => (await readdir(tmpdir())).filter(name => /^keelson-[0-9a-f]{16}$/.test(name))

test('the file has no name, so nothing is left when the work fails or we are killed', async () => {
  const work = withEnvFile({ PATH: '/bin', HOME: '/h' }, async file => {
    expect(await readFile(`/proc/self/fd/${file?.fd}`, 'utf8')).toBe('PATH=/bin\nHOME=/h\n')
    expect(await filesOfOurs()).toEqual([])
    throw new Error('the work failed')
  })
  await expect(work).rejects.toThrow('the work failed')
  expect(await filesOfOurs()).toEqual([])
})

test('without variables there is no file', async () => {
  expect(await withEnvFile({}, async file => file)).toBeUndefined()
})
