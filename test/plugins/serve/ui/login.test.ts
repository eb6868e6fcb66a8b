import { expect, test } from 'vitest'
import { visit } from '../../../support/browser.ts'
import { identityProvider } from '../../../support/identity-provider.ts'
import { startUi } from './open-page.ts'

test('where callers log in, the page asks for a token, and keeps it to itself', {
  timeout: 120_000,
}, async context => {
  const provider = await identityProvider()
  const args = ['--oidc-issuer', provider.issuer, '--oidc-audience', provider.audience]
  const api = await startUi({ args: [...args, '--oidc-insecure-allow-http', '--jwks-allow-private-ip'] })
  const { page } = await visit(context, `${api.url}/`)

  const dialog = page.getByRole('dialog', { name: 'Who are you?' })
  await dialog.getByLabel('Access token').fill('not-a-token')
  await page.keyboard.press('Enter')
  await dialog.getByLabel('Access token').fill(await provider.token())
  await page.keyboard.press('Enter')

  await page.getByText('No workloads yet.').waitFor()
  expect(await page.evaluate('Object.keys(localStorage).length + Object.keys(sessionStorage).length')).toBe(0)
  expect(await page.evaluate('document.cookie + location.href')).toBe(`${api.url}/`)
})

test('without a token the page says that one is needed', { timeout: 120_000 }, async context => {
  const provider = await identityProvider()
  const args = ['--oidc-issuer', provider.issuer, '--oidc-audience', provider.audience]
  const api = await startUi({ args: [...args, '--oidc-insecure-allow-http', '--jwks-allow-private-ip'] })
  const { page } = await visit(context, `${api.url}/`)

  await page.getByRole('dialog', { name: 'Who are you?' }).waitFor()
  await page.keyboard.press('Escape')

  await page.getByText('This server requires a login: it needs a token.').waitFor()
})
