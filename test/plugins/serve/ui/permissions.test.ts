import { expect, test } from 'vitest'
import { deny, makeWalled } from '../../../support/walled-workload.ts'
import { openPage, startUi } from './open-page.ts'

test('the page shows what a workload may do, and allows a host after asking', {
  timeout: 240_000,
}, async context => {
  const api = await startUi()
  await makeWalled(api.user, {
    name: 'walled',
    outbound: { allow_host: ['b.example.com'], allow_port: [80] },
    resources: { memory: '512m' },
    secrets: ['github_token,target=TOKEN'],
    image_signer: { identity: 'maker@example.com', verified: true },
  })
  await deny(api.user, 'walled', 'api.example.com')
  await deny(api.user, 'walled', '10.0.0.6')
  const { page, problems } = await openPage(context, api, { at: '/#/walled' })
  await page.getByRole('tab', { name: 'Permissions' }).click()

  const panel = page.getByRole('tabpanel')
  for (const text of [
    'At port 80',
    'b.example.com',
    '512m of memory',
    'github_token as TOKEN',
    /maker@example.com/,
  ])
    await panel.getByText(text).first().waitFor()
  await panel.getByText('10.0.0.6:443', { exact: true }).waitFor()
  expect(await panel.getByRole('button').count()).toBe(1) // nothing can be pressed for a private address

  await page.getByRole('button', { name: 'Allow this host… api.example.com:443' }).click()
  const dialog = page.getByRole('dialog', { name: 'Allow this host?' })
  await dialog
    .getByText('walled asked for api.example.com:443. It may then reach, at port 80, 443:')
    .waitFor()
  expect(await dialog.getByRole('listitem').allTextContents()).toEqual(['b.example.com', 'api.example.com'])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Allow this host… api.example.com:443' }).click()
  await dialog.getByRole('button', { name: 'Allow' }).click()

  await panel.getByText('At port 80, 443').waitFor()
  await panel.getByText('api.example.com', { exact: true }).waitFor()
  expect(await panel.getByRole('button').count()).toBe(0)
  expect(problems).toEqual([])
})
