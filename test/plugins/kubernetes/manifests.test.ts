import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { exportManifests } from '../../../plugins/kubernetes/manifests/export-manifests.ts'
import type { Manifest } from '../../../plugins/kubernetes/manifests/manifest.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { CORPUS, WAYS } from '../../support/kubernetes-corpus.ts'

interface Container {
  readonly image: string
  readonly resources: { readonly limits: Readonly<Record<string, string>> }
  readonly securityContext: object
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[]
  readonly lifecycle: object
  readonly readinessProbe: object
}
interface Read extends Pick<Manifest, 'kind' | 'metadata'> {
  readonly stringData?: object
  // biome-ignore lint/suspicious/noExplicitAny: documents as they were read, of any kind
  readonly spec: any
}

const asIs = async (reference: string) => reference
const read = (text: string): Read[] =>
  parseAllDocuments(text, { version: '1.1' }).map(document => document.toJS())
const toText = async (config: RunConfig, way: (typeof WAYS)[number]) =>
  (await exportManifests(config, way, asIs)).text
const of = (kind: string, all: readonly Read[]) => all.filter(manifest => manifest.kind === kind)

test('the corpus has at least 60 run configs', () => expect(CORPUS.length).toBeGreaterThanOrEqual(60))

describe.each(WAYS)('with the host $publicHost and the Gateway $gateway', way => {
  let objects: readonly { readonly config: RunConfig; readonly all: readonly Read[] }[] | undefined
  test.each([
    ['names and labels are valid, and no object stands twice', assertNames],
    ['containers are limited, restricted and by digest', assertContainers],
    ['the Secret has keys without values', assertSecret],
    ['the server has no way out but its egress proxy', assertEgress],
  ])('%s', async (_, assertIt) => {
    objects ??= await Promise.all(
      CORPUS.map(async config => ({ config, all: read(await toText(config, way)) })),
    )
    for (const { config, all } of objects) assertIt(all, config)
  })

  test('the same run config is the same text', async () => {
    for (const config of CORPUS.slice(0, 10))
      expect(await toText(config, way)).toBe(await toText(config, way))
  })
})

function assertNames(all: readonly Read[]): void {
  for (const { metadata } of all) {
    expect(metadata.name).toMatch(/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/)
    for (const value of Object.values(metadata.labels))
      expect(value).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/)
  }
  const ids = all.map(({ kind, metadata }) => `${kind}/${metadata.name}`)
  expect(new Set(ids).size).toBe(ids.length)
}

function assertContainers(all: readonly Read[]): void {
  const deployments = of('Deployment', all)
  expect(deployments.length).toBeGreaterThan(0)
  for (const { spec } of deployments) {
    const pod = spec.template.spec
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    })
    for (const key of ['hostNetwork', 'hostPID', 'hostIPC', 'initContainers'])
      expect(pod).not.toHaveProperty(key)
    for (const volume of pod.volumes) expect(volume.emptyDir ?? volume.configMap).toBeDefined()
    for (const container of pod.containers as Container[]) {
      expect(container.image).toMatch(/@sha256:[0-9a-f]{64}$/)
      expect(container.resources.limits).toMatchObject({
        cpu: expect.any(String),
        memory: expect.any(String),
      })
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        readOnlyRootFilesystem: true,
      })
      expect(container.lifecycle).toHaveProperty('preStop')
      expect(container.readinessProbe).toBeDefined()
    }
  }
}

function assertSecret(all: readonly Read[], config: RunConfig): void {
  const wanted = [
    ...(config.secrets ?? []).map(text => text.replace(/.*,target=/, '')),
    ...Object.keys(config.header_forward?.add_headers_from_secret ?? {}).map(() => 'KEELSON_SECRET_KEY'),
  ]
  const keys = of('Secret', all).flatMap(({ stringData }) => Object.entries(stringData ?? {}))
  expect(keys).toHaveLength(wanted.length)
  for (const [, value] of keys) expect(value).toBe('')
  const variables: Container['env'][number][] = of('Deployment', all).flatMap(({ spec }) =>
    spec.template.spec.containers.flatMap(({ env }: Container) => env),
  )
  for (const name of wanted) {
    expect(variables.find(variable => variable.name === name)).toHaveProperty('valueFrom.secretKeyRef')
  }
}

function assertEgress(all: readonly Read[], config: RunConfig): void {
  const policies = of('NetworkPolicy', all)
  // Every pod has a policy, for both directions.
  expect(policies.map(({ spec }) => spec.podSelector.matchLabels)).toEqual(
    expect.arrayContaining(of('Deployment', all).map(({ spec }) => spec.selector.matchLabels)),
  )
  for (const { spec } of policies) expect(spec.policyTypes).toEqual(['Ingress', 'Egress'])
  const component = 'app.kubernetes.io/component'
  const server = policies.find(({ metadata }) => metadata.labels[component] === 'server')
  expect(server === undefined).toBe(config.remote_url !== undefined)
  for (const { to = [], ports = [] } of server?.spec.egress ?? []) {
    expect(to).toHaveLength(1)
    const isDns = ports.every(({ port }: { port: number }) => port === 53)
    const labels = to[0].podSelector.matchLabels
    if (isDns) expect(labels).toEqual({ 'k8s-app': 'kube-dns' })
    else expect(labels[component]).toBe('egress')
  }
}

const [plain = {} as RunConfig] = CORPUS
const WAY = WAYS[0] as (typeof WAYS)[number]

test.each([
  ['a stdio server', { transport: 'stdio' }, 'stdio'],
  ['an image that was built here', { source: 'npx://left-pad' }, 'built on this machine'],
  ['a folder of this machine', { volumes: ['/srv:/srv'] }, 'volumes'],
  [
    'a file with a secret',
    { oidc_config: { issuer: 'https://x.example', clientSecretFile: '/x' } },
    'oidc_config.clientSecretFile',
  ],
  ['an unknown member', { of_a_later_version: true }, 'of_a_later_version'],
  ['a remote server on this machine', { image: '', remote_url: 'http://127.0.0.1:1/mcp' }, 'on this machine'],
] as const)('%s is refused, and the reason is named', async (_, more, reason) => {
  await expect(exportManifests({ ...plain, ...more } as RunConfig, WAY, asIs)).rejects.toThrow(reason)
})

test('arguments and variables reach the server as they were written', async () => {
  const cmd_args = ['$(HOME)', '- - -\nkind: Pod', '---']
  const all = read(await toText({ ...plain, cmd_args, env_vars: { A: '$(B)', ON: 'yes' } }, WAY))
  const [server] = of('Deployment', all).flatMap(({ spec }) =>
    spec.template.spec.containers.filter(({ name }: { name: string }) => name === 'server'),
  )
  // The kubelet makes `$` of `$$` (Kubernetes API reference, Container v1).
  expect(server.args).toEqual(['$$(HOME)', '- - -\nkind: Pod', '---'])
  expect(server.env).toEqual(
    expect.arrayContaining([
      { name: 'A', value: '$$(B)' },
      { name: 'ON', value: 'yes' },
    ]),
  )
})
