import { describe, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { bool, oneOf, optional, texts } from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'
import { checkSection, checkSections } from '../../src/sections.ts'

const config = (more: object = {}): RunConfig => ({
  schema_version: 'v0.1.0',
  name: 'w',
  transport: 'stdio',
  port: 0,
  ...more,
})

const section: Section = {
  members: { on: optional(bool), mode: optional(oneOf(['a', 'b'])), names: optional(texts) },
  check({ name }) {
    if (name === 'wrong') throw new Error('checked')
  },
}

describe('a section', () => {
  test.each([
    [{ on: 'yes' }, 'on is true or false.'],
    [{ mode: 'c' }, 'mode is one of a, b.'],
    [{ names: ['x', 1] }, 'names is not valid: [1]: Expected a string (got 1)'],
    [{ name: 'wrong' }, 'checked'],
  ])('refuses %j: %s', (members, text) => {
    expect(() => checkSection(section, config(members))).toThrow(text)
  })

  test('accepts its members, and their absence', () => {
    checkSection(section, config({ on: false, mode: 'b', names: ['x'] }))
    checkSection(section, config())
  })
})

describe('a member whose feature is not there', () => {
  const appWith = (...sections: Section[]) => ({ contributions: async () => sections }) as unknown as App
  const asking = config({ audit_config: { enabled: true } })
  const owner: Section = { members: { audit_config: {} } }

  test('is refused', async () => {
    await expect(checkSections(appWith(section), asking)).rejects.toMatchObject({
      code: 'section_unenforced',
    })
  })

  test('is accepted where a plugin has it in its section', async () => {
    await checkSections(appWith(section, owner), asking)
  })

  test('is refused in a spelling that its plugin does not read', async () => {
    const other = config({ Audit_Config: { enabled: true } })
    await expect(checkSections(appWith(owner), other)).rejects.toMatchObject({ code: 'section_unenforced' })
  })
})
