import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { startApi } from '../../support/api-server.ts'
import { startTinyMcp } from '../../support/tiny-mcp.ts'

const root = new URL('../../..', import.meta.url).pathname
const fixtures = join(root, 'fixtures/desktop-requests')
const program = promisify(execFile)
const bin = (name: string) => join(root, 'node_modules/.bin', name)

/** Types of the bodies, as the generator names them. */
const TYPES: readonly (readonly [path: RegExp, type: string])[] = [
  [/workloads$/, 'CreateWorkloadRequest'],
  [/edit$/, 'UpdateWorkloadRequest'],
  [/groups$/, 'CreateGroupRequest'],
  [/keys$/, 'CreateSecretRequest'],
  [/clients$/, 'RegisterClientRequest'],
  [/register$/, 'RegisterClientsRequest'],
  [/build$/, 'BuildSkillRequest'],
  [/skills$/, 'InstallSkillRequest'],
]

/** Each body of the fixtures as a value of its type. Null counts as not given, so it stands in no type. */
async function typedBodies(): Promise<string> {
  const lines = ["import type * as client from './client.ts'"]
  for (const [index, file] of (await readdir(fixtures)).entries()) {
    const { path, body } = JSON.parse(await readFile(join(fixtures, file), 'utf8'))
    const type = TYPES.find(([pattern]) => pattern.test(path))?.[1]
    const value = JSON.stringify(body, (_, member) => (member === null ? undefined : member))
    lines.push(`const body${index} = ${value} // ${file}`)
    lines.push(`export const typed${index}: client.${type} = body${index}`)
  }
  return lines.join('\n')
}

/** What the test calls of the generated class. */
interface Client {
  createWorkload(body: object): Promise<{ data: { name: string; port: number } }>
  getWorkload(name: string): Promise<{ data: object }>
  updateWorkload(name: string, body: object): Promise<{ data: { name: string } }>
  listWorkloads(query: object): Promise<{ data: { workloads: { name: string }[] } }>
}

test('a client that is generated from the description takes the bodies of applications, and works', async () => {
  const api = await startApi()
  const folder = await mkdtemp(join(root, 'node_modules/.generated-client-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const { text } = await api.ask('GET', '/api/openapi.json')
  await writeFile(join(folder, 'openapi.json'), text)
  const named = ['-p', join(folder, 'openapi.json'), '-o', folder, '-n', 'client.ts']
  await program(bin('swagger-typescript-api'), ['generate', ...named, '--silent'])

  await writeFile(join(folder, 'bodies.ts'), await typedBodies())
  const strict = [
    '--ignoreConfig',
    '--types',
    'node',
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--allowImportingTsExtensions',
  ]
  const compiled = await program(
    bin('tsc'),
    ['--noEmit', '--skipLibCheck', ...strict, join(folder, 'bodies.ts')],
    {
      cwd: folder,
    },
  ).catch(error => error)
  expect(compiled.stdout).toBe('')

  const generated = await import(join(folder, 'client.ts'))
  const client = new generated.Api({ baseUrl: api.url }).api as Client
  const url = await startTinyMcp()
  const made = await client.createWorkload({ name: 'a', url })
  expect(made.data).toMatchObject({ name: 'a', port: expect.any(Number) })
  await api.untilStatus('a', 'running')
  const { data: details } = await client.getWorkload('a')
  expect((await client.updateWorkload('a', details)).data).toMatchObject({ name: 'a' })
  expect((await client.listWorkloads({ all: true })).data.workloads.map(({ name }) => name)).toEqual(['a'])
}, 180_000)
