import { expect, test } from 'vitest'
import { readIdentity } from '../../../plugins/auth-server/upstream/identity.ts'

const emailOf = (more: object) =>
  readIdentity({ sub: 'ada', email: 'eve@example.com', ...more }, 'default').email

test.each([false, 'false', 0, 'no', null])('an address is nobody’s while email_verified is %j', said => {
  expect(emailOf({ email_verified: said })).toBeUndefined()
})

test.each([true, 'true', undefined])('an address is taken where email_verified is %j', said => {
  expect(emailOf({ email_verified: said })).toBe('eve@example.com')
})
