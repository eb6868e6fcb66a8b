import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createConsent } from '../../../plugins/skills/commands/consent.ts'
import type { CliContext } from '../../../src/cli/base-command.ts'

/** A person at a terminal who types this, or nobody. */
function consent(typed: string | undefined, { yes = false } = {}) {
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== undefined })
  const stderr = new PassThrough()
  stdin.end(`${typed ?? ''}\n`)
  const { ask, refusal } = createConsent({ stdin, stderr } as unknown as CliContext, { yes })
  return { ask: () => ask(['pdf: newer'], 'Upgrade?'), refusal, shown: () => String(stderr.read()) }
}

test.each(['y', 'yes', 'Y'])('"%s" agrees, after what would change was shown', async typed => {
  const { ask, refusal, shown } = consent(typed)

  expect(await ask()).toBe(true)
  expect(refusal()).toBeUndefined()
  expect(shown()).toBe('pdf: newer\nUpgrade? [y/N] ')
})

test.each(['', 'n', 'no', 'yesterday'])('"%s" does not, without an error', async typed => {
  const { ask, refusal, shown } = consent(typed)

  expect(await ask()).toBe(false)
  expect(refusal()).toBe(0)
  expect(shown()).toContain('Nothing was changed.')
})

test('without a terminal it is refused, naming --yes', async () => {
  const { ask, refusal, shown } = consent(undefined)

  expect(await ask()).toBe(false)
  expect(refusal()).toBe(4)
  expect(shown()).toContain('--yes')
})

test('--yes agrees without a question, and still shows what would change', async () => {
  const { ask, shown } = consent(undefined, { yes: true })

  expect(await ask()).toBe(true)
  expect(shown()).toBe('pdf: newer\n')
})
