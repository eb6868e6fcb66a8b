import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type BuildSettings, NO_VARIABLES } from '../../../plugins/recipes/build-settings.ts'
import { createRecipes } from '../../../plugins/recipes/service.ts'
import { defineFailures, isFailure } from '../../../src/errors.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { certificate } from './certificate.ts'
import { fakeImages, filesOf } from './fake-images.ts'

const npm = { scheme: 'npx' as const, package: 'name@1.2.3', local: false, buildWith: [] }
const SECRET = "it's $HOME of `secrets`"

function settingsOf(
  values: Record<string, string>,
  {
    secrets = [],
    authFiles = new Map(),
    ca,
  }: { secrets?: string[]; authFiles?: Map<string, string>; ca?: string } = {},
): BuildSettings {
  return {
    caCertificate: async () => ca,
    variables: async () => ({ values: new Map(Object.entries(values)), secrets, authFiles }),
    publicVariables: async () => ({
      values: new Map(Object.entries(values)),
      secrets: [],
      authFiles: new Map(),
    }),
  }
}

const recipesWith = async (settings?: BuildSettings) =>
  createRecipes({ folder: await temporaryFolder(), ...(settings ? { settings } : {}) })

async function certificateFile(text: string = certificate): Promise<string> {
  const path = join(await temporaryFolder(), 'ca.pem')
  await writeFile(path, text)
  return path
}

/** Go code, with a Dockerfile of its own or without. */
async function goCode(dockerfile?: string) {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'go.mod'), 'module example.test/x\n')
  if (dockerfile !== undefined) await writeFile(join(folder, 'Dockerfile'), dockerfile)
  return { scheme: 'go' as const, package: folder, local: true, buildWith: [] }
}

describe('certificates of the settings', () => {
  test('are trusted where --ca-cert names none', async () => {
    const recipes = await recipesWith(settingsOf({}, { ca: await certificateFile() }))
    const plan = await recipes.plan(npm)
    expect(filesOf(plan).get('ca-cert.crt')).toBe(certificate)
    expect(plan.dockerfile.match(/^COPY ca-cert\.crt /gm)).toHaveLength(2)
  })

  test('are replaced by --ca-cert, even when they cannot be read', async () => {
    const recipes = await recipesWith(settingsOf({}, { ca: '/nowhere.pem' }))
    const plan = await recipes.plan(npm, { caCert: await certificateFile() })
    expect(filesOf(plan).get('ca-cert.crt')).toBe(certificate)
  })

  test('that are not there, or none, fail and say that the settings name them', async () => {
    const missing = await recipesWith(settingsOf({}, { ca: '/nowhere.pem' }))
    await expect(missing.plan(npm)).rejects.toThrow(
      'The CA certificate of the settings /nowhere.pem does not exist.',
    )
    const path = await certificateFile('rubbish')
    const wrong = await recipesWith(settingsOf({}, { ca: path }))
    await expect(wrong.plan(npm)).rejects.toThrow(
      `The CA certificate of the settings ${path} holds no certificate.`,
    )
  })

  test('leave code with a Dockerfile of its own as it is, while --ca-cert is refused', async () => {
    const recipes = await recipesWith(settingsOf({ A: 'b' }, { ca: await certificateFile() }))
    const request = await goCode('FROM scratch\n')
    const plan = await recipes.plan(request)
    expect(plan.dockerfile).toBe('FROM scratch\n')
    expect([...filesOf(plan)]).toEqual([])
    await expect(recipes.plan(request, { caCert: await certificateFile() })).rejects.toThrow('--ca-cert')
  })

  test('are not part of what a run config was built as', async () => {
    const folder = await temporaryFolder()
    const { runtime } = fakeImages()
    const path = await certificateFile()
    const settings = settingsOf({ A: 'b' }, { ca: path })
    const { image } = await createRecipes({ folder, settings }).build(npm, { runtime })
    expect(await createRecipes({ folder }).isBuilt(image, npm, { runtime })).toBe(true)
    expect(await createRecipes({ folder, settings }).isBuilt(image, npm, { runtime })).toBe(true)
  })
})

describe('variables of the settings', () => {
  test('are seen by every step that fetches and by no other', async () => {
    for (const request of [npm, { ...npm, scheme: 'uvx' as const }, await goCode()]) {
      const recipes = await recipesWith(settingsOf({ A: 'b' }, { ca: await certificateFile() }))
      const { dockerfile } = await recipes.plan(request)
      const [, tools, fetch = '', ...others] = dockerfile.split(/^FROM /m)
      const steps = fetch.match(/^RUN .*$/gm) ?? []
      expect(steps.length).toBeGreaterThan(0)
      expect(steps.filter(step => !step.includes('. /keelson/build-env; '))).toEqual([])
      expect([tools, ...others].join('')).not.toContain('build-env')
    }
  })

  test('stand in one file that a shell reads back as they are', async () => {
    const recipes = await recipesWith(settingsOf({ A: SECRET, B: 'two\nlines' }))
    const files = filesOf(await recipes.plan(npm))
    expect(files.get('build-env')).toBe("export A='it'\\''s $HOME of `secrets`'\nexport B='two\nlines'\n")
  })

  test('show neither in the Dockerfile nor in tag, labels or key', async () => {
    const { runtime, builds } = fakeImages()
    const recipes = await recipesWith(settingsOf({ A: SECRET, B: 'literal-value' }, { secrets: [SECRET] }))
    await recipes.build(npm, { runtime })
    const [build] = builds
    expect(build?.files['build-env']).toContain('literal-value')
    const shown = JSON.stringify(builds.map(({ tag, labels, dockerfile }) => ({ tag, labels, dockerfile })))
    expect(shown).toContain('keelson-recipe')
    expect(shown).not.toContain('literal-value')
    expect(shown).not.toContain('of `secrets`')
  })

  test('another value makes another image, the same value the same', async () => {
    const key = async (values: Record<string, string>) =>
      (await (await recipesWith(settingsOf(values))).plan(npm)).key
    const [none, one, again, other] = [
      await key({}),
      await key({ A: '1' }),
      await key({ A: '1' }),
      await key({ A: '2' }),
    ]
    expect(one).toBe(again)
    expect(new Set([none, one, other]).size).toBe(3)
  })

  test('without any the Dockerfile is as it was', async () => {
    const [plain, empty] = [await recipesWith(), await recipesWith(settingsOf({}))]
    expect((await empty.plan(npm)).key).toBe((await plain.plan(npm)).key)
    expect((await plain.plan(npm)).dockerfile).not.toContain('build-env')
    expect(NO_VARIABLES.values.size).toBe(0)
  })

  test('that are secrets are hidden in what a build prints and in how it fails', async () => {
    const broken = defineFailures({
      build_failed: { status: 502, text: (d: { problem: string }) => d.problem, hint: 'Look.' },
    })
    const { runtime } = fakeImages({ lines: [`npm got ${SECRET}`] })
    const settings = settingsOf({ A: SECRET }, { secrets: [SECRET] })
    const lines: string[] = []
    await (await recipesWith(settings)).build(npm, { runtime }, { report: line => lines.push(line) })
    expect(lines).toContain('npm got [redacted]')

    const images = {
      ...fakeImages().runtime.images,
      build: async () => {
        throw broken.build_failed({ problem: `npm died of ${SECRET}` })
      },
    }
    const failing = (await recipesWith(settings)).build(npm, { runtime: { name: 'fake', images } })
    await expect(failing).rejects.toSatisfy(
      error =>
        isFailure(error, 'build_failed') &&
        error.message === 'npm died of [redacted]' &&
        error.hint === 'Look.' &&
        error.cause === undefined,
    )
  })

  test('a short secret is not looked for in the program, since any would hold it', async () => {
    const plan = async (secret: string) =>
      (await recipesWith(settingsOf({ A: secret }, { secrets: [secret] }))).plan(npm)
    expect((await plan('1234567')).dockerfile).not.toContain('grep -rqFf')
    const long = await plan('12345678')
    expect(long.dockerfile).toContain('grep -rqFf /keelson/build-secrets /fetched')
    expect(filesOf(long).get('build-secrets')).toBe('12345678\n')
  })
})

test('the folder of the build that fetches holds the values, for their owner only', async () => {
  const modes: number[] = []
  const images = {
    ...fakeImages().runtime.images,
    build: async ({ context }: { context: string }) => {
      const found = await stat(join(context, 'build-env')).catch(() => undefined)
      modes.push(found ? found.mode & 0o777 : 0)
    },
  }
  await (await recipesWith(settingsOf({ A: 'b' }))).build(npm, { runtime: { name: 'fake', images } })
  expect(modes).toEqual([0o600, 0, 0])
})

describe('files with logins', () => {
  const authFiles = new Map([['npmrc', '//npm.example/:_authToken=token-of-npm\n']])

  test('stand in the home folder of the stage that fetches and nowhere else', async () => {
    for (const request of [npm, { ...npm, scheme: 'uvx' as const }, await goCode()]) {
      const recipes = await recipesWith(settingsOf({}, { authFiles, secrets: ['token-of-npm'] }))
      const plan = await recipes.plan(request)
      const { dockerfile } = plan
      const [, tools, fetch = '', ...others] = dockerfile.split(/^FROM /m)
      expect(fetch).toMatch(/^RUN ln -sf \/keelson\/build-auth-npmrc "\$\{HOME:-\/root\}\/\.npmrc"$/m)
      expect([tools, ...others].join('')).not.toContain('npmrc')
      expect(filesOf(plan).get('build-auth-npmrc')).toContain('token-of-npm')
      expect(dockerfile).not.toContain('token-of-npm')
    }
  })

  test('are readable for their owner only, and gone after the build', async () => {
    const { runtime, builds } = fakeImages()
    const recipes = await recipesWith(settingsOf({}, { authFiles }))
    await recipes.build(npm, { runtime })
    expect(builds[0]?.files['build-auth-npmrc']).toContain('token-of-npm')
    await expect(stat(builds[0]?.context ?? '')).rejects.toThrow()
  })

  test('stages that hold one bear a label of this build alone, by which they are removed', async () => {
    const { runtime, builds } = fakeImages()
    const recipes = await recipesWith(settingsOf({}, { authFiles }))
    const plan = await recipes.plan(npm)
    await recipes.build(npm, { runtime })
    const { passing = '', dockerfile: built = '' } = builds[0] ?? {}
    expect(passing).toMatch(/^keelson-build=[0-9a-f-]{36}$/)
    expect(built).toContain(`COPY build-auth-npmrc /keelson/\nLABEL ${passing}\n`)
    expect(built.replace(`LABEL ${passing}\n`, '')).toBe(plan.builds[0]?.dockerfile)
  })

  test('a build without secrets has nothing to remove', async () => {
    const { runtime, builds } = fakeImages()
    await (await recipesWith(settingsOf({ A: 'plain' }))).build(npm, { runtime })
    expect(builds.map(({ passing }) => passing)).toEqual([undefined, undefined, undefined])
  })

  test('another login makes another image', async () => {
    const key = async (text: string) =>
      (await (await recipesWith(settingsOf({}, { authFiles: new Map([['npmrc', text]]) }))).plan(npm)).key
    expect(await key('a')).toBe(await key('a'))
    expect(await key('a')).not.toBe(await key('b'))
  })
})
