import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, type TestContext } from 'vitest'
import { ownerOf } from '../../../plugins/runtime-docker/container-runtime.ts'
import { engineProblem } from '../engine-problem.ts'
import { type KeelsonUser, userWithSecrets } from '../keelson.ts'
import { needs } from '../left-out.ts'

export type Engine = 'docker' | 'podman'

export const NODE = 'keelson-test/node:24'
export const PYTHON = 'keelson-test/python:3'

/** Where containers of every engine find this host. */
export function hostAddress(): string {
  const found = Object.values(networkInterfaces())
    .flatMap(addresses => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)
  if (!found) throw new Error('this host has no address but loopback')
  return found.address
}

/** Takes what stolen data would be sent to; keeps what came. By default at all addresses of this host. */
export async function listener({
  host = '0.0.0.0',
  port = 0,
} = {}): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(request.url ?? '')
    response.end('thank you')
  })
  server.listen(port, host)
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const shown = host === '0.0.0.0' ? hostAddress() : host
  return { url: `http://${shown}:${(server.address() as AddressInfo).port}/`, seen }
}

/** What builds of a user have left on the engine and on this host, beside `image`. */
export async function leftOf(engine: Engine, home: string, image?: string): Promise<string[]> {
  const owner = ownerOf(join(home, '.local/share/keelson'))
  const lines = async (program: string, args: readonly string[]) =>
    (await execa(program, args)).stdout.split('\n').filter(Boolean)
  const label = '{{index .Config.Labels "keelson-recipe"}}'
  const key = image && (await execa(engine, ['image', 'inspect', `--format=${label}`, image])).stdout
  const id = createHash('sha256')
    .update(`${join(home, '.cache/keelson/recipes')}\0${key}`)
    .digest('hex')
  const rules = await lines('iptables', ['-t', 'mangle', '-S', 'PREROUTING'])
  return [
    ...(await lines(engine, ['network', 'ls', '--quiet', `--filter=label=keelson-owner=${owner}`])),
    ...(await lines(engine, ['ps', '--all', '--quiet', `--filter=label=keelson-owner=${owner}`])),
    ...(key ? await lines(engine, ['images', '--quiet', `keelson.local/building:${id.slice(0, 32)}-*`]) : []),
    ...rules.filter(rule => rule.includes(`keelson ${owner}`)),
  ]
}

export interface ImageUser extends KeelsonUser {
  /** `keelson build`; the image goes with the test. */
  build(
    target: string,
    ...flags: string[]
  ): Promise<{ code?: number | undefined; stdout: string; stderr: string; image: string }>
  /** What a shell prints in the image, as its root, without a network. */
  inside(image: string, script: string): Promise<string>
  config(...args: string[]): Promise<void>
  /** Keeps a file with logins, as `config set-build-auth-file` does. */
  login(name: string, content: string): Promise<void>
}

/** A user who builds images with an engine. Where there is none the test is left out, but not in CI. */
export async function imageUser(engine: Engine, base: string, context: TestContext): Promise<ImageUser> {
  needs(context, engineProblem(engine, base))
  const user = await userWithSecrets()
  const config = async (args: readonly string[], input = '') =>
    expect(await user.run(['config', ...args], { input })).toMatchObject({ code: 0, stderr: '' })
  return {
    ...user,
    async build(target, ...flags) {
      const image = `keelson.local/test-hostile:${randomBytes(6).toString('hex')}`
      onTestFinished(async () => void (await execa(engine, ['image', 'rm', '-f', image], { reject: false })))
      const given = [`--runtime=${engine}`, `--runtime-image=${base}`, `--tag=${image}`, ...flags]
      return { ...(await user.run(['build', target, ...given])), image }
    },
    async inside(image, script) {
      const args = ['run', '--rm', '--network=none', '--user=0', '--entrypoint=/bin/sh', image, '-c', script]
      return (await execa(engine, args)).stdout
    },
    config: async (...args) => void (await config(args)),
    login: async (name, content) => void (await config(['set-build-auth-file', name], content)),
  }
}
