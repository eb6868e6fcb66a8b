import { describe, expect, test } from 'vitest'
import { compareSigners } from '../../../../plugins/skills/install/trust.ts'
import { ALICE } from '../../../support/fake-skill-sources.ts'
import { skillsHome, USER } from '../skills-home.ts'

const REF = 'registry.test/skills/pdf:1'
const BOB = { ...ALICE, signerIdentity: 'https://github.com/bob/skills/.github/workflows/r.yml@refs/tags/v1' }

describe.each(['user', 'project'] as const)('in the scope %s', scope => {
  async function installedBy(signer: typeof ALICE | null) {
    const made = await skillsHome()
    const place = scope === 'user' ? USER : made.project
    await made.publish(REF, { name: 'pdf', signer })
    await made.installer.install(place, { reference: REF, allowUnsigned: signer === null })
    const install = (options = {}) =>
      made.installer.install(place, { reference: REF, force: true, ...options })
    return { ...made, place, install }
  }

  test('an unsigned skill needs --allow-unsigned, and is remembered as such', async () => {
    const made = await skillsHome()
    const place = scope === 'user' ? USER : made.project
    await made.publish(REF, { name: 'pdf', signer: null })

    await expect(made.installer.install(place, { reference: REF })).rejects.toMatchObject({
      code: 'skill_unsigned',
      status: 403,
    })
    const details = await made.installer.install(place, { reference: REF, allowUnsigned: true })

    expect(details.unsigned).toBe(true)
    expect(details.provenance).toBeUndefined()
  })

  test('the same unsigned content again needs no new permission', async () => {
    const { install } = await installedBy(null)

    await expect(install()).resolves.toMatchObject({ unsigned: true })
  })

  test('another unsigned content needs it again', async () => {
    const { publish, install } = await installedBy(null)
    await publish(REF, { name: 'pdf', signer: null, body: 'new' })

    await expect(install()).rejects.toMatchObject({ code: 'skill_unsigned' })
  })

  test('who signed first is remembered, and somebody else is refused even with --force', async () => {
    const { publish, install, installer, place } = await installedBy(ALICE)
    await publish(REF, { name: 'pdf', signer: BOB, body: 'new' })

    await expect(install()).rejects.toMatchObject({ code: 'skill_signer_changed', status: 403 })

    expect((await installer.get(place, 'pdf')).provenance).toEqual(ALICE)
  })

  test('what was signed is never replaced by something unsigned', async () => {
    const { publish, install } = await installedBy(ALICE)
    await publish(REF, { name: 'pdf', signer: null, body: 'new' })

    await expect(install({ allowUnsigned: true })).rejects.toMatchObject({
      code: 'skill_signature_lost',
      status: 403,
    })
  })

  test('what was unsigned may be signed from now on', async () => {
    const { publish, install } = await installedBy(null)
    await publish(REF, { name: 'pdf', signer: ALICE, body: 'new' })

    await expect(install()).resolves.toMatchObject({ provenance: ALICE })
  })

  test('another repository of the same signer is refused', async () => {
    const { publish, install } = await installedBy(ALICE)
    const signer = { ...ALICE, repositoryUri: 'https://github.com/alice/other' }
    await publish(REF, { name: 'pdf', signer, body: 'new' })

    await expect(install()).rejects.toMatchObject({ code: 'skill_provenance_changed', status: 403 })
  })
})

describe('the same signer', () => {
  const at = (ref: string) => ({
    ...ALICE,
    signerIdentity: ALICE.signerIdentity.replace(/refs.*/, ref),
    repositoryRef: ref,
  })

  test('may sign another tag, for a newer version', () => {
    expect(compareSigners(ALICE, at('refs/tags/v2'), 'newer-version')).toBeUndefined()
  })

  test('may not sign the same content from another tag', () => {
    expect(compareSigners(ALICE, at('refs/tags/v2'), 'same-content')).toMatchObject({
      field: 'signerIdentity',
    })
  })

  test.each(['refs/heads/main', 'refs/pull/7/merge'])('is another one at %s', ref => {
    expect(compareSigners(ALICE, at(ref), 'newer-version')).toBeDefined()
  })

  test('may not lose what was recorded', () => {
    const { runnerEnvironment: _, ...less } = ALICE
    expect(compareSigners(ALICE, less, 'same-content')).toMatchObject({ field: 'runnerEnvironment' })
    expect(compareSigners(less, ALICE, 'same-content')).toBeUndefined()
  })
})
