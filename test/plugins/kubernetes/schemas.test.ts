import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { exportManifests } from '../../../plugins/kubernetes/manifests/export-manifests.ts'
import { CORPUS, WAYS } from '../../support/kubernetes-corpus.ts'
import { needs } from '../../support/left-out.ts'

/** From the Python package `kubernetes-validate`, which holds the published schemas of these versions. */
const program = `${process.env.KEELSON_TEST_STATE ?? '/var/tmp/keelson-test'}/kubernetes-validate/bin/kubernetes-validate`
const problem = existsSync(program)
  ? undefined
  : 'there is no kubernetes-validate, which test/support/engines/setup.sh installs'

test.for(['1.33.0', '1.34.0', '1.35.0'])(
  'all manifests are strictly valid for Kubernetes %s',
  {
    timeout: 300_000,
  },
  async (version, context) => {
    needs(context, problem)
    const folder = await mkdtemp(join(tmpdir(), 'keelson-manifests-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const texts = await Promise.all(
      CORPUS.flatMap(config => WAYS.map(way => exportManifests(config, way, async reference => reference))),
    )
    // The schemas of Gateways are published elsewhere.
    const objects = texts
      .flatMap(({ text }) => text.split('---\n'))
      .filter(text => !text.includes('kind: HTTPRoute'))
    expect(objects.length).toBeGreaterThan(1000)
    const path = join(folder, 'manifests.yaml')
    await writeFile(path, objects.join('---\n'))
    const { status, stdout, stderr } = spawnSync(
      program,
      ['-k', version, '--strict', '--no-warn', '--quiet', path],
      {
        encoding: 'utf8',
      },
    )
    expect(`${stdout}${stderr}`).toBe('')
    expect(status).toBe(0)
  },
)
