import { expect, test } from 'vitest'
import { readDeviceStep } from '../../../../plugins/auth-out/oauth/device-step.ts'

const PUBLIC = { issuer: 'https://login.example', mayBePrivate: false }
const OWN = { ...PUBLIC, mayBePrivate: true }
const STARTED = {
  device_code: 'd',
  user_code: 'WDJB-MJHT',
  verification_uri: 'https://93.184.215.14/device',
  expires_in: 60,
}

test('the page and the code are shown, and when they end', async () => {
  expect(await readDeviceStep(STARTED, PUBLIC, () => 1000)).toEqual({
    kind: 'device',
    url: 'https://93.184.215.14/device',
    completeUrl: undefined,
    userCode: 'WDJB-MJHT',
    expiresAt: 61_000,
  })
})

test('a code that is good for ages has an end that can be written', async () => {
  const { expiresAt } = (await readDeviceStep({ ...STARTED, expires_in: 1e18 }, PUBLIC, () => 0)) as {
    expiresAt: number
  }
  expect(new Date(expiresAt).toISOString()).toBe('1970-01-02T00:00:00.000Z')
})

test.each([
  'javascript:alert(1)',
  'file:///etc/passwd',
  'http://login.example/device',
  'https://user@login.example/device',
  'https://login.example@192.168.0.1/device',
  'https://192.168.0.1/reboot',
  'https://[::ffff:10.0.0.1]/reboot',
  'https://localhost/reboot',
  'http://127.0.0.1:8080/reboot',
  'http://2130706433/reboot',
  '',
])('a server on the internet sends nobody to %j', async page => {
  const step = readDeviceStep({ ...STARTED, verification_uri: page }, PUBLIC, Date.now)

  await expect(step).rejects.toMatchObject({ code: 'remote_issuer_invalid' })
})

test.each(['https://192.168.0.1/device?user_code=1', 'http://localhost/?code=1', 'javascript:alert(1)'])(
  'the page with the code in it is left out where it is %s',
  async page => {
    const step = await readDeviceStep({ ...STARTED, verification_uri_complete: page }, PUBLIC, Date.now)

    expect(step).toMatchObject({ url: STARTED.verification_uri, completeUrl: undefined })
  },
)

test('a server of the own network may name a page there', async () => {
  const pages = {
    verification_uri: 'https://192.168.0.1/device',
    verification_uri_complete: 'https://192.168.0.1/device?user_code=1',
  }

  expect(await readDeviceStep({ ...STARTED, ...pages }, OWN, Date.now)).toMatchObject({
    url: pages.verification_uri,
    completeUrl: pages.verification_uri_complete,
  })
})

test('a page and a code that move the cursor are shown without that', async () => {
  const step = await readDeviceStep(
    { ...STARTED, verification_uri: 'https://93.184.215.14/\u001b[2J', user_code: 'A\u001b[31mB' },
    PUBLIC,
    Date.now,
  )

  expect(step).toMatchObject({ url: 'https://93.184.215.14/%1B[2J', userCode: 'AB' })
})
