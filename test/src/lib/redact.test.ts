import { expect, test } from 'vitest'
import { redact } from '../../../src/lib/redact.ts'

test('values of variables are hidden whose names say that they are secret', () => {
  expect(redact('A_TOKEN=abc B=TOKEN=d MY_API_KEY_2=e NAME=f xTOKEN=g')).toBe(
    'A_TOKEN=[redacted] B=TOKEN=[redacted] MY_API_KEY_2=[redacted] NAME=f xTOKEN=g',
  )
})

test('names of strangers do not keep the process busy for minutes', () => {
  const name = 'TOKEN'.repeat(400_000)
  expect(redact(`${name} -`)).toBe(`${name} -`)
})

test('what is nested too deep to be looked at is hidden', () => {
  const deep = (levels: number): unknown => (levels ? { a: deep(levels - 1) } : { token: 'abcd' })
  expect(JSON.stringify(redact(deep(8)))).toContain('"token":"[redacted]"')
  expect(JSON.stringify(redact(deep(40)))).not.toContain('abcd')
})
