import { expect, test } from 'vitest'
import { dockerDialect } from '../../../plugins/runtime-docker/docker-dialect.ts'
import type { EngineCli } from '../../../plugins/runtime-docker/engine-cli.ts'
import { createHelperContainer } from '../../../plugins/runtime-docker/isolation/helper-container.ts'
import { createHelperImage } from '../../../plugins/runtime-docker/isolation/helper-image.ts'
import { runtimeFailures } from '../../../src/contracts/runtime-failures.ts'
import { LABEL } from '../../../src/lib/labels.ts'
import { fakeImages } from '../recipes/fake-images.ts'

const OWNER = 'owner-of-the-test'
type Container = { image: string; labels: Record<string, string>; running: boolean }

/** An engine that has one container at most: the helper. */
function engineWith(container?: Container) {
  const state = { container, removed: 0 }
  const cli: Pick<EngineCli, 'run'> = {
    async run(args, { doing }) {
      const option = (name: string) =>
        args.flatMap(one => (one.startsWith(name) ? [one.slice(name.length)] : []))
      if (args[0] === 'create') {
        const labels = Object.fromEntries(option('--label=').map(pair => pair.split('=')))
        state.container = { image: args.at(-2) ?? '', labels, running: false }
      }
      if (args[0] === 'rm') {
        state.container = undefined
        state.removed += 1
      }
      if (args[0] === 'start' && state.container) state.container.running = true
      if (args[0] !== 'container') return ''
      if (!state.container) throw runtimeFailures.instance_missing({ runtime: 'docker', name: doing })
      const { image, labels, running } = state.container
      return JSON.stringify([
        { Image: `id of ${image}`, State: { Running: running }, Config: { Labels: labels } },
      ])
    },
  }
  return { state, cli: cli as EngineCli }
}

async function join(engine: ReturnType<typeof engineWith>, env: Record<string, string> = {}) {
  const { images } = fakeImages().runtime
  const said: string[] = []
  const helper = createHelperContainer({
    dialect: dockerDialect,
    cli: engine.cli,
    owner: OWNER,
    name: 'helper',
    image: createHelperImage({ runtime: 'docker', images, env }),
    addresses: async () => [],
    log: { info: (text: string) => said.push(text) } as never,
  })
  await helper.join({ network: 'n', address: '10.213.0.2' })
  return said
}

test('the helper runs from the image that the environment names, or from the one that is built in', async () => {
  const plain = engineWith()
  expect(await join(plain)).toEqual([
    'the way out of isolated servers runs from node:24-alpine (id of node:24-alpine)',
  ])
  expect(plain.state.container).toMatchObject({ image: 'node:24-alpine', running: true })
  const named = engineWith()
  await join(named, { KEELSON_HELPER_IMAGE: 'mine:1' })
  expect(named.state.container?.image).toBe('mine:1')
})

test('a helper made from another image is made anew', async () => {
  const engine = engineWith({
    image: 'strangers/base:1',
    labels: { [LABEL.owner]: OWNER, [LABEL.helper]: 'true' },
    running: true,
  })
  await join(engine)
  expect(engine.state).toMatchObject({ removed: 1, container: { image: 'node:24-alpine', running: true } })
  expect(await join(engine)).toEqual([])
  expect(engine.state.removed).toBe(1)
})
