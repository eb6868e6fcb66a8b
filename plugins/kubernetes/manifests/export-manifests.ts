import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { SecretRef } from '../secret-refs.ts'
import { toAvailability } from './availability.ts'
import { toEdge } from './edge.ts'
import { toEntry } from './entry.ts'
import { labelsOf, type Manifest, type Plan } from './manifest.ts'
import { toNetworkPolicies } from './network-policies.ts'
import { toServer } from './server.ts'
import { type ManifestOptions, toPlan } from './to-plan.ts'

export interface ExportedManifests {
  /** The objects as YAML. */
  readonly text: string
  /** What a person has to know or do, one sentence each. */
  readonly notes: readonly string[]
}

/** The objects that run a workload in a cluster without an operator. Fails as `toPlan` does. */
export async function exportManifests(
  config: RunConfig,
  options: ManifestOptions,
  pin: (reference: string) => Promise<string>,
): Promise<ExportedManifests> {
  const plan = await toPlan(config, options, pin)
  const { toYaml } = await import('../to-yaml.ts')
  return { text: toYaml(toManifests(plan)), notes: notesOf(plan, config) }
}

const toManifests = (plan: Plan): Manifest[] => [
  ...toSecret(plan),
  ...toNetworkPolicies(plan),
  ...(plan.server ? toServer(plan, plan.server) : []),
  ...toEdge(plan),
  ...toAvailability(plan),
  ...toEntry(plan),
]

/** The keys without their values, which no file should hold. */
function toSecret(plan: Plan): Manifest[] {
  if (plan.secrets.length === 0) return []
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `${plan.name}-secrets`, labels: labelsOf(plan, 'server') },
      type: 'Opaque',
      stringData: Object.fromEntries(plan.secrets.map(({ key }) => [key, ''])),
    },
  ]
}

function notesOf(plan: Plan, config: RunConfig): string[] {
  const keys = plan.secrets.map(({ key }: Pick<SecretRef, 'key'>) => key).join(', ')
  return [
    ...(keys ? [`Fill in the values of the Secret "${plan.name}-secrets": ${keys}.`] : []),
    ...(plan.stateless
      ? []
      : ['Sessions live in one edge, so it has one replica; --stateless servers get more.']),
    ...(plan.server && config.isolate_network === false
      ? [
          'The server is not isolated here. In the cluster it reaches only what its permission profile allows.',
        ]
      : []),
    ...(plan.server?.reaches === undefined || plan.server === undefined
      ? []
      : ['The NetworkPolicies hold only where the network plugin of the cluster enforces them.']),
    ...(plan.publicHost && !config.oidc_config
      ? ['Nobody has to log in: whoever reaches the host may call.']
      : []),
  ]
}
