import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { vi } from 'vitest'
import type { KeelsonUser } from '../../support/keelson.ts'
import { main } from '../../support/main.ts'

const ADDRESS = /^https?:\/\/\S+$/m

/** A login that waits for somebody to open the address it shows. */
export interface Waiting {
  readonly url: string
  /** What it showed in the end. */
  readonly ended: Promise<{ code: number | undefined; stdout: string; stderr: string }>
  readonly pid: number
  interrupt(): void
}

/** Types `registry login` and waits for the address. */
export async function startLogin(user: KeelsonUser, args: readonly string[] = []): Promise<Waiting> {
  const words = ['registry', 'login', '--skip-browser', '--callback-port', '0', ...args]
  const child = execa(process.execPath, [main, ...words], {
    cwd: user.home,
    env: user.env,
    extendEnv: false,
    stdin: 'ignore',
    reject: false,
    timeout: 150_000,
  })
  const ended = child.then(({ exitCode: code, stdout, stderr }) => ({ code, stdout, stderr }))
  let shown = ''
  while (!ADDRESS.test(shown)) {
    const [chunk] = await Promise.race([
      once(child.stderr, 'data'),
      ended.then(({ stderr }) => Promise.reject(new Error(`it ended: ${stderr}`))),
    ])
    shown += String(chunk)
  }
  const [url = ''] = ADDRESS.exec(shown) ?? []
  return { url, ended, pid: child.pid ?? 0, interrupt: () => child.kill('SIGINT') }
}

/** A browser that only writes down what it is to open. Answers a wait for that. */
export async function recordingBrowser(user: KeelsonUser): Promise<() => Promise<string>> {
  const opened = join(user.home, 'opened')
  const script = `#!/bin/sh\nprintf %s "$1" >"${opened}.part" && mv "${opened}.part" "${opened}"\n`
  await writeFile(join(user.home, 'xdg-open'), script, { mode: 0o755 })
  user.env.PATH = `${user.home}:${user.env.PATH}`
  return () => vi.waitFor(() => readFile(opened, 'utf8'), { timeout: 120_000 })
}
