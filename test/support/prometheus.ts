import { spawn, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { findFreePort } from '../../src/lib/ports.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** Why no Prometheus can be started here; undefined where it can. */
export const prometheusProblem = (): string | undefined =>
  spawnSync('prometheus', ['--version']).status === 0 ? undefined : 'prometheus is not installed'

/** A real Prometheus on loopback that scrapes a port of this machine each second, and ends with the test. */
export async function prometheus(scrapedPort: number) {
  const folder = await temporaryFolder()
  const config = {
    global: { scrape_interval: '1s' },
    scrape_configs: [{ job_name: 'keelson', static_configs: [{ targets: [`127.0.0.1:${scrapedPort}`] }] }],
  }
  const file = join(folder, 'prometheus.yml')
  await writeFile(file, JSON.stringify(config))
  const args = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`]
  let [port, child] = await start()
  onTestFinished(() => void child.kill('SIGKILL'))

  async function start() {
    const port = await findFreePort()
    const listen = `--web.listen-address=127.0.0.1:${port}`
    return [port, spawn('prometheus', [...args, listen], { stdio: 'ignore' })] as const
  }

  return {
    /** The results of a query in PromQL now; empty while Prometheus cannot be asked yet. */
    async query(
      text: string,
    ): Promise<readonly { metric: Record<string, string>; value: [number, string] }[]> {
      // Prometheus cannot choose a port itself, and a free one may be taken before it listens.
      if (child.exitCode !== null) [port, child] = await start()
      const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(text)}`
      const response = await fetch(url).catch(() => undefined)
      if (!response?.ok) return []
      return ((await response.json()) as { data: { result: [] } }).data.result
    },
  }
}
