import { expect, test } from 'vitest'
import { assertAllowed, parseAllowed } from '../../../plugins/auth-in/allowed-callers.ts'

const isAllowed = (claims: Record<string, unknown>, ...rules: string[]): boolean => {
  try {
    assertAllowed({ subject: 'ada', claims }, parseAllowed(rules))
    return true
  } catch {
    return false
  }
}

test.each<[Record<string, unknown>, string[], boolean]>([
  [{ sub: 'ada' }, [], true],
  [{ sub: 'ada' }, ['sub=ada'], true],
  [{ sub: 'adam' }, ['sub=ada'], false],
  [{ sub: 'Ada' }, ['sub=ada'], false],
  [{ sub: 'bob' }, ['sub=ada', 'sub=bob'], true],
  [{ sub: 'ada', hd: 'other.example' }, ['sub=ada', 'hd=example.com'], false],
  [{ sub: 'ada' }, ['sub=ada', 'hd=example.com'], false],
  [{ groups: ['ops', 'admins'] }, ['groups=admins'], true],
  [{ groups: ['ops admins'] }, ['groups=admins'], false],
  [{ groups: 'ops admins' }, ['groups=admins'], false],
  [{ groups: 'ops,admins' }, ['groups=admins'], false],
  [{ groups: { admins: true } }, ['groups=admins'], false],
  [{ groups: [['admins']] }, ['groups=admins'], false],
  [{ scope: 'read write' }, ['scope=write'], true],
  [{ scp: 'read write' }, ['scp=write'], true],
  [{ name: 'not ada' }, ['name=ada'], false],
  [{ tenant: 7, paying: true }, ['tenant=7', 'paying=true'], true],
  [{ realm_access: { roles: ['admin'] } }, ['realm_access.roles=admin'], true],
  [{ 'https://example.com/roles': ['admin'] }, ['https://example.com/roles=admin'], true],
  [{ query: 'a=b' }, ['query=a=b'], true],
  [{ roles: ['admin'] }, ['realm_access.roles=admin'], false],
  [{ sub: null }, ['sub=null'], false],
  [{}, ['constructor.name=Object'], false],
  [{ sub: 'ada' }, ['sub.length=3'], false],
  [{ groups: ['a'] }, ['groups.0=a'], true],
  [{ email: 'ada@example.com', email_verified: true }, ['email=ada@example.com'], true],
  [{ email: 'ada@example.com', email_verified: 'true' }, ['email=ada@example.com'], true],
  [{ email: 'ada@example.com', email_verified: false }, ['email=ada@example.com'], false],
  [{ email: 'ada@example.com' }, ['email=ada@example.com'], false],
])('%j with the rules %j is let in: %s', (claims, rules, allowed) => {
  expect(isAllowed(claims, ...rules)).toBe(allowed)
})
