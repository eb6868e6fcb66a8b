import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const modules = new URL('../../../node_modules/', import.meta.url).pathname

/** The official suite of the era of sessions, and the newer one, which has both eras. */
export const SUITES = { older: '@modelcontextprotocol/conformance', newer: 'conformance-2026' } as const

/** Runs an official suite of scenarios for servers against a URL. Returns `scenario check STATUS` for each check. */
export const runSuite = (suite: string, url: string, args: readonly string[]): Promise<string[]> =>
  run(suite, ['server', '--url', url, ...args])

/** Runs scenarios of the newer suite for clients; the command gets the URL of the server of each. */
export const runClientSuite = (
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<string[]> => run(SUITES.newer, ['client', '--command', command, ...args], env)

async function run(suite: string, args: readonly string[], env = process.env): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-conformance-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const program = join(modules, suite, 'dist/index.js')
  const child = spawn(process.execPath, [program, ...args, '-o', folder], {
    cwd: folder,
    env,
    stdio: 'ignore',
  })
  await once(child, 'exit')
  const results: string[] = []
  for (const scenario of await readdir(folder)) {
    const checks = JSON.parse(await readFile(join(folder, scenario, 'checks.json'), 'utf8'))
    const name = scenario.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '')
    for (const { id, status } of checks as { id: string; status: string }[]) {
      results.push(`${name} ${id} ${status}`)
    }
  }
  return results.sort()
}
