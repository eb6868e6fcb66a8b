import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { onTestFinished, type TestContext } from 'vitest'
import { needs } from './left-out.ts'

/** A page in a real Chromium, and all that it did. */
export interface Visit {
  readonly page: Page
  /** Errors of scripts, error messages of the console, and violations of the content security policy. */
  readonly problems: readonly string[]
  /** Method and address of each request, in order. */
  readonly requests: readonly string[]
  /** How often requests were given up because the network of this machine has changed. */
  networkChanges(): number
  /**
   * Loads a page by `step`, and again while Chromium gives up what it loads: it does so when an interface of this
   * machine comes or goes, as engines of other tests make them.
   */
  load(step: () => Promise<unknown>): Promise<void>
}

const MOST_RELOADS = 20

/**
 * Opens an address in a browser of its own, which ends with the test; without a Chromium the test is left out.
 * `names` are host names that lead to this machine there.
 */
export async function visit(
  context: TestContext,
  url: string,
  { names = [], ...options }: BrowserContextOptions & { names?: readonly string[] } = {},
): Promise<Visit> {
  const browser = await launch(context, names)
  const page = await (await browser.newContext({ locale: 'en-GB', ...options })).newPage()
  page.setDefaultTimeout(45_000)
  const problems: string[] = []
  const requests: string[] = []
  let changes = 0
  page.on('console', message => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    if (message.text().includes('ERR_NETWORK_CHANGED')) changes++
    else problems.push(message.text())
  })
  page.on('pageerror', error => problems.push(String(error)))
  page.on('request', request => requests.push(`${request.method()} ${request.url()}`))
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', e => console.error('CSP: ' + e.violatedDirective + ' ' + e.blockedURI))",
  )
  const open = new Set<string>()
  page.on('request', request => open.add(request.url()))
  page.on('requestfinished', request => open.delete(request.url()))
  page.on('requestfailed', request => open.delete(request.url()))
  onTestFinished(async () => {
    if (context.task.result?.state !== 'fail') return
    const shown = await page.locator('body').textContent().catch(String)
    console.warn(
      `The page showed:\n${shown}\nStill open: ${[...open].join(' ')}\nProblems: ${problems.join('\n')}`,
    )
  })
  const load = async (step: () => Promise<unknown>): Promise<void> => {
    let seen = changes
    await step()
    for (let times = 0; changes > seen && times < MOST_RELOADS; times++) {
      seen = changes
      requests.length = 0
      await page.reload()
    }
  }
  await load(() => page.goto(url))
  return { page, problems, requests, networkChanges: () => changes, load }
}

async function launch(context: TestContext, names: readonly string[]): Promise<Browser> {
  const executablePath = findChromium()
  if (!executablePath) {
    needs(context, 'there is no chromium (test/support/engines/setup.sh installs it)')
    throw new Error('unreachable')
  }
  const sandbox = process.getuid?.() !== 0 // root has none
  const browser = await chromium.launch({
    executablePath,
    chromiumSandbox: sandbox,
    args: names.map(name => `--host-resolver-rules=MAP ${name} 127.0.0.1`),
  })
  onTestFinished(() => browser.close())
  return browser
}

function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return ['chromium', 'chromium-browser', 'google-chrome']
    .flatMap(name => folders.map(folder => join(folder, name)))
    .find(path => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}
