import { expect, test } from 'vitest'
import { redact } from '../../../src/lib/redact.ts'

test('values of variables are hidden whose names say that they are secret', () => {
  expect(redact('A_TOKEN=abc B=TOKEN=d MY_API_KEY_2=e NAME=f xTOKEN=g')).toBe(
    'A_TOKEN=[redacted] B=TOKEN=[redacted] MY_API_KEY_2=[redacted] NAME=f xTOKEN=g',
  )
})

test('the placeholder of a hint stays', () => {
  const hint = 'Run it with `-e A_TOKEN=VALUE`, or A_TOKEN=VALUE alone'
  expect(redact(hint)).toBe(hint)
  expect(redact('A_TOKEN=VALUE1 B_TOKEN=VALUE`x')).toBe('A_TOKEN=[redacted] B_TOKEN=VALUE`x')
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
