import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** The commands of the built program, with the settings of a user who has none, in a home of its own. */
export interface OwnHome {
  readonly home: string
  /** Runs `run` with these arguments. Returns what it printed, which is the URL for clients. */
  run(args: readonly string[]): Promise<string>
  /** Runs another command, whose time is not measured. */
  command(...args: readonly string[]): void
  /** Ends the supervisor and deletes the home. */
  close(): Promise<void>
}

export async function openOwnHome(): Promise<OwnHome> {
  const home = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  const own = Object.entries(process.env).filter(([name]) => !/^(?:XDG|KEELSON)_/.test(name))
  const env = { ...Object.fromEntries(own), HOME: home } // certificates and package registries as here
  const command = (...args: readonly string[]) => {
    spawnSync(process.execPath, [program, ...args], { env })
  }
  return {
    home,
    command,
    async run(args) {
      const child = spawn(process.execPath, [program, 'run', ...args], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const [url, words, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ])
      if (code !== 0) throw new Error(`run ended with ${code}: ${words}`)
      return url.trim()
    },
    async close() {
      command('supervisor', 'stop')
      await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
    },
  }
}
