import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { RegistryTokens } from '../../../plugins/registry/registry-tokens.ts'
import { createRegistry } from '../../../plugins/registry/service.ts'
import { createSettings, type SettingsChange } from '../../../plugins/settings/service.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'

const TIMEOUTS = { answerMs: 1000, listMs: 2000, probeMs: 500 }
export const HOUR = 3_600_000

/** Somebody has logged in. */
const knows = (token: string): RegistryTokens => ({
  find: async () => token,
  has: async () => true,
  login: async () => ({ issuer: 'https://i.example', client_id: 'c' }),
  logout: async () => undefined,
  forget: async () => undefined,
})

/** A user with these settings; `registry` makes what a new process of theirs would have. */
export async function userOf(change: SettingsChange = {}) {
  const home = await mkdtemp(join(tmpdir(), 'keelson-registry-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  const paths = findPaths({ HOME: home })
  const settings = createSettings({ paths })
  await settings.change(() => ({ allow_private_registry_ip: true, ...change }))
  const warnings: string[] = []
  let now = 1_000_000_000_000
  const log = createLog({ write: line => warnings.push(line), human: true, debug: false })
  /** A new process of the same user. */
  const registry = (tokens?: string) =>
    createRegistry({
      paths,
      settings,
      log,
      timeouts: TIMEOUTS,
      clock: () => now,
      ...(tokens ? { tokens: async () => knows(tokens) } : {}),
    })
  const pass = (ms: number) => {
    now += ms
  }
  return { home, paths, settings, warnings, registry, pass }
}

export const server = (name: string, extra: object = {}) => ({
  name,
  description: `About ${name}`,
  version: '1.0.0',
  packages: [
    { registryType: 'oci', identifier: `example/${name.split('/')[1]}:1`, transport: { type: 'stdio' } },
  ],
  ...extra,
})
export const upstream = (servers: object[]) =>
  JSON.stringify({ version: '1.0.0', meta: {}, data: { servers } })
export const many = Array.from({ length: 250 }, (_, i) =>
  server(`com.example/s${String(i).padStart(3, '0')}`),
)
