import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect, onTestFinished, type TestContext } from 'vitest'

/** A page in a real Chromium, and all that it did. */
export interface Visit {
  readonly page: Page
  /** Errors of scripts, error messages of the console, and violations of the content security policy. */
  readonly problems: readonly string[]
  /** Method and address of each request, in order. */
  readonly requests: readonly string[]
}

/** Opens an address in a browser of its own, which ends with the test; without a Chromium the test is left out. */
export async function visit(
  context: TestContext,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const browser = await launch(context)
  const page = await (await browser.newContext({ locale: 'en-GB', ...options })).newPage()
  page.setDefaultTimeout(45_000)
  const problems: string[] = []
  const requests: string[] = []
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text())
  })
  page.on('pageerror', error => problems.push(String(error)))
  page.on('request', request => requests.push(`${request.method()} ${request.url()}`))
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', e => console.error('CSP: ' + e.violatedDirective + ' ' + e.blockedURI))",
  )
  await page.goto(url)
  return { page, problems, requests }
}

async function launch(context: TestContext): Promise<Browser> {
  const executablePath = findChromium()
  if (!executablePath) {
    const problem = 'there is no chromium (test/support/engines/setup.sh installs it)'
    if (process.env.CI) expect.fail(problem)
    console.warn(`not tried: ${problem}`)
    context.skip(problem)
    throw new Error('unreachable')
  }
  const sandbox = process.getuid?.() !== 0 // root has none
  const browser = await chromium.launch({ executablePath, chromiumSandbox: sandbox })
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
