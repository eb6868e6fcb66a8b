import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, onTestFinished, type TestContext } from 'vitest'
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

/** One for all tests of a file with the same names: a start takes a second of the processor or two. */
const browsers = new Map<string, Promise<Browser>>()
afterAll(async () => {
  for (const browser of browsers.values()) await (await browser).close()
})

/**
 * Opens an address in a browser window with cookies and storage of its own, which ends with the test; without a
 * Chromium the test is left out. `names` are host names that lead to this machine there.
 */
export async function visit(
  context: TestContext,
  url: string,
  { names = [], ...options }: BrowserContextOptions & { names?: readonly string[] } = {},
): Promise<Visit> {
  const browser = await findBrowser(context, names)
  const window = await browser.newContext({ locale: 'en-GB', ...options })
  onTestFinished(() => window.close())
  const page = await window.newPage()
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
  /** A page that the network broke off is loaded again, as one whose requests it broke off. */
  const attempt = (step: () => Promise<unknown>): Promise<unknown> =>
    step().catch(error => {
      if (!String(error).includes('ERR_NETWORK_CHANGED')) throw error
      changes++
    })
  const load = async (step: () => Promise<unknown>): Promise<void> => {
    let seen = changes
    await attempt(step)
    for (let times = 0; changes > seen && times < MOST_RELOADS; times++) {
      seen = changes
      requests.length = 0
      await attempt(() => page.reload())
    }
  }
  await load(() => page.goto(url))
  return { page, problems, requests, networkChanges: () => changes, load }
}

function findBrowser(context: TestContext, names: readonly string[]): Promise<Browser> {
  const executablePath = findChromium()
  if (!executablePath) {
    needs(context, 'there is no chromium (test/support/engines/setup.sh installs it)')
    throw new Error('unreachable')
  }
  const key = names.join(' ')
  const found = browsers.get(key) ?? launch(executablePath, names)
  browsers.set(key, found)
  return found
}

const launch = (executablePath: string, names: readonly string[]): Promise<Browser> =>
  chromium.launch({
    executablePath,
    chromiumSandbox: process.getuid?.() !== 0, // root has none
    args: names.map(name => `--host-resolver-rules=MAP ${name} 127.0.0.1`),
  })

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
