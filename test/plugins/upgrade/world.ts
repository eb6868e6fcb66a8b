import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { type Home, openHome } from '../../e2e/home.ts'
import { type DockerRegistry, startDockerRegistry } from '../../support/docker-registry.ts'
import { baseLayers } from './base-layers.ts'

/** What a version of the server does wrong, once it runs. */
export type Behaviour = 'good' | 'exits' | 'deaf' | 'mute' | 'no-tools'

/** A home, an OCI registry with several versions of one server, and a catalogue that names one of them. */
export interface World {
  readonly home: Home
  readonly registry: DockerRegistry
  /** Repository of the server. */
  readonly repository: string
  /** Builds and pushes a version; nothing of it stays in the engine. */
  push(tag: string, behaviour?: Behaviour, more?: { version?: string }): Promise<string>
  /** Makes the catalogue name this version. */
  offer(tag: string, more?: object): Promise<void>
  /** Containers of a workload, running or not. */
  containers(name: string): Promise<string[]>
  /** Networks of a workload alone. */
  networks(name: string): Promise<string[]>
  config(name: string): Promise<Record<string, unknown>>
  /** Whether there is such a file in the home. */
  exists(path: string): boolean
  close(): Promise<void>
}

const BASE = 'keelson-test/node:24'

export const docker = async (...args: string[]): Promise<string> => (await execa('docker', args)).stdout

export async function openWorld(): Promise<World> {
  const [home, registry] = await Promise.all([openHome(), startDockerRegistry()])
  const repository = `${registry.host}/acme/clock`
  const storage = join(registry.folder, 'data')
  const layers = await baseLayers(BASE)
  await layers.putInto(storage, 'acme/clock')
  const lines = (text: string) => text.split('\n').filter(Boolean).sort()
  return {
    home,
    registry,
    repository,
    async push(tag, behaviour = 'good', { version = tag } = {}) {
      const reference = `${repository}:${tag}`
      const dockerfile = [
        `FROM ${BASE}`,
        'COPY versioned-server.mjs /server.mjs',
        `ENV VERSION=${version} BEHAVIOUR=${behaviour}`,
        `LABEL world=${registry.host}`, // an image of its own, which no other test removes
        'ENTRYPOINT ["node", "/server.mjs"]',
      ].join('\n')
      const context = new URL('../../../fixtures/upgrades', import.meta.url).pathname
      await execa('docker', ['build', '--quiet', '--tag', reference, '--file', '-', context], {
        input: dockerfile,
      })
      const { stdout } = await execa('docker', ['push', '--quiet', reference])
      await layers.takeFrom(storage)
      await docker('image', 'rm', '--force', reference)
      return stdout
    },
    async offer(tag, more = {}) {
      const entry = {
        description: 'a clock',
        image: `${repository}:${tag}`,
        transport: 'streamable-http',
        status: 'Active',
        tier: 'Community',
        tools: ['version'],
        ...more,
      }
      const file = join(home.path, 'registry.json')
      const document = { version: '1.0.0', last_updated: '2026-01-01T00:00:00Z', servers: { clock: entry } }
      await writeFile(file, JSON.stringify(document))
      await home.ok(['config', 'set-registry', file])
    },
    containers: async name =>
      lines(await docker('ps', '--all', '--filter', `label=keelson-name=${name}`, '--format', '{{.Names}}')),
    networks: async name =>
      lines(await docker('network', 'ls', '--filter', `label=keelson-name=${name}`, '--format', '{{.Name}}')),
    async config(name) {
      const file = join(home.path, '.local/state/keelson/runconfigs', `${name}.json`)
      return JSON.parse(await readFile(file, 'utf8'))
    },
    exists: path => existsSync(join(home.path, path)),
    async close() {
      try {
        await home.close()
      } finally {
        const names = await docker('images', '--digests', '--format', '{{json .}}', repository)
        for (const line of lines(names)) {
          const { Repository, Tag, Digest } = JSON.parse(line)
          const name = Tag === '<none>' ? `${Repository}@${Digest}` : `${Repository}:${Tag}`
          await execa('docker', ['image', 'rm', '--force', name], { reject: false })
        }
        await registry.stop()
      }
    },
  }
}
