import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from './free-port.ts'

/** A registry of Debian's `docker-registry` package (2.8: no referrers API) on a free loopback port. */
export interface DockerRegistry {
  /** `127.0.0.1:PORT` */
  readonly host: string
  /** Where it keeps what was pushed. */
  readonly folder: string
  stop(): Promise<void>
}

export async function startDockerRegistry(): Promise<DockerRegistry> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-registry-'))
  const host = `127.0.0.1:${await freePort()}`
  const config = {
    version: 0.1,
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(folder, 'data') }, delete: { enabled: true } },
    http: { addr: host },
  }
  await writeFile(join(folder, 'config.yml'), JSON.stringify(config))
  const child = spawn('docker-registry', ['serve', join(folder, 'config.yml')], {
    stdio: 'ignore',
    env: { ...process.env, OTEL_TRACES_EXPORTER: 'none' },
  })
  const ended = once(child, 'exit')
  let failed: unknown
  child.on('error', error => {
    failed = error
  })
  const stop = async () => {
    child.kill('SIGKILL')
    await ended.catch(() => undefined)
    await rm(folder, { recursive: true, force: true })
  }
  const deadline = Date.now() + 20_000
  for (;;) {
    const ok = await fetch(`http://${host}/v2/`).then(
      answer => answer.ok,
      () => false,
    )
    if (ok) return { host, folder, stop }
    if (failed || child.exitCode !== null || Date.now() > deadline) {
      await stop()
      throw new Error('docker-registry does not start', { cause: failed })
    }
    await delay(50)
  }
}
