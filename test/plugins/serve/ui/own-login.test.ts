import { expect, test } from 'vitest'
import { visit } from '../../../support/browser.ts'
import { identityProvider } from '../../../support/identity-provider.ts'
import { startUi } from './open-page.ts'

test('behind its own authorization server, the page logs a person in and keeps the tokens to itself', {
  timeout: 120_000,
}, async context => {
  const provider = await identityProvider({
    clients: [
      {
        ...{ client_id: 'keelson', token_endpoint_auth_method: 'none', application_type: 'native' },
        redirect_uris: ['http://127.0.0.1/oauth/callback'],
      },
    ],
  })
  const api = await startUi({
    args: ['--auth-server-upstream', provider.issuer, '--auth-server-client-id', 'keelson'],
  })
  // The login knows the other name of this machine, where the page goes first.
  const { port } = new URL(api.url)
  const { page, problems, load } = await visit(context, `http://localhost:${port}/#/somewhere`)
  const dialog = page.getByRole('dialog', { name: 'Who are you?' })
  await dialog.getByText('This server requires a login.').waitFor()
  await dialog.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(`${api.url}/#/somewhere`)
  await dialog.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('button', { name: 'Allow' }).click()

  await page.getByText('There is no workload “somewhere”.').waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  expect(page.url()).toBe(`${api.url}/#/somewhere`)
  expect(await page.evaluate('Object.keys(localStorage).length + Object.keys(sessionStorage).length')).toBe(0)
  expect(await page.evaluate('document.cookie')).toBe('')
  expect(problems.filter(text => !text.includes('401'))).toEqual([])

  // Somebody who refuses is asked again, calmly, and is not sent away by themselves.
  await load(() => page.reload())
  await dialog.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('button', { name: /Refuse|Cancel|Deny/ }).click()
  await dialog.getByText('The login did not succeed.').waitFor()
})
