import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContextOptions } from 'playwright-core'
import { expect, onTestFinished, type TestContext } from 'vitest'
import { type ApiServer, startApi } from '../../../support/api-server.ts'
import { type Visit, visit } from '../../../support/browser.ts'
import { keelsonUser } from '../../../support/keelson.ts'

const CA = process.env.SSL_CERT_FILE ?? '/etc/ssl/certs/ca-certificates.crt'

/** `keelson serve --ui`, with a registry of the test's own, on the process runtime. */
export async function startUi(
  options: {
    servers?: Record<string, object>
    remotes?: Record<string, object>
    args?: readonly string[]
  } = {},
): Promise<ApiServer> {
  const user = await keelsonUser()
  Object.assign(user.env, { KEELSON_RUNTIME: 'process', KEELSON_SECRETS_PASSWORD: 'correct horse battery' })
  if (existsSync(CA)) Object.assign(user.env, { NODE_EXTRA_CA_CERTS: CA, SSL_CERT_FILE: CA })
  const { servers = {}, remotes } = options
  if (options.servers || remotes) {
    const path = await writeRegistry(user.home, servers, remotes)
    const set = await user.run(['config', 'set-registry', path])
    expect(set).toMatchObject({ code: 0 })
  }
  const api = await startApi({ user, args: ['--port', '0', '--ui', ...(options.args ?? [])] })
  onTestFinished(({ task }) => {
    if (task.result?.state !== 'fail') return
    console.warn(
      `The server (${api.process.exitCode ?? api.process.signalCode ?? 'runs'}) logged:\n${api.log()}`,
    )
  })
  return api
}

/** Writes the registry of the test anew; answers where it is. */
export async function writeRegistry(
  home: string,
  servers: Record<string, object>,
  remote_servers: Record<string, object> = {},
): Promise<string> {
  const path = join(home, 'registry.json')
  const registry = { version: '1.0.0', last_updated: '2026-11-21T00:00:00Z', servers, remote_servers }
  await writeFile(path, JSON.stringify(registry))
  return path
}

/** The page, when it has heard of all workloads. */
export async function openPage(
  context: TestContext,
  api: ApiServer,
  options: BrowserContextOptions & { at?: string } = {},
): Promise<Visit> {
  const { at = '/', ...rest } = options
  const visited = await visit(context, `${api.url}${at}`, rest)
  await visited.page.getByText('Live', { exact: true }).waitFor()
  return visited
}

/** A workload that runs elsewhere, when it is up. */
export async function makeRemote(api: ApiServer, name: string, url: string): Promise<void> {
  await api.ask('POST', '/api/v1beta/workloads', { name, url })
  await api.untilStatus(name, 'running')
}
