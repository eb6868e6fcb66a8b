import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { withoutKeelsonSecrets } from '../lib/keelson-secrets.ts'

type Env = Readonly<Record<string, string | undefined>>

const COMMANDS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/**
 * Opens a URL in the user's browser. Returns false when no program for that could be started. A started
 * program may still show no browser, so callers print the URL in any case.
 */
export async function openBrowser(
  url: string,
  env: Env,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  const [program = '', ...args] = COMMANDS[platform] ?? ['xdg-open']
  const child = spawn(program, [...args, url], {
    env: withoutKeelsonSecrets(env),
    stdio: 'ignore',
    detached: true,
  })
  child.unref()
  try {
    await once(child, 'spawn')
    child.on('error', () => undefined)
    return true
  } catch {
    return false
  }
}
