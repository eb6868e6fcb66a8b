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
export async function runSuite(suite: string, url: string, args: readonly string[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-conformance-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const program = join(modules, suite, 'dist/index.js')
  const child = spawn(process.execPath, [program, 'server', '--url', url, '-o', folder, ...args], {
    cwd: folder,
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
