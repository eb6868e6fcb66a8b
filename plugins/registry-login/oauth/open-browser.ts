import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { withoutKeelsonSecrets } from '../../../src/lib/keelson-secrets.ts'

type Env = Readonly<Record<string, string | undefined>>

const COMMANDS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/**
 * Opens a URL in the person's browser. False when no program for that could be started; whether a
 * browser then shows up nobody can tell, so the URL is printed in any case.
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
