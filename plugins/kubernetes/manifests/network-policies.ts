import {
  EDGE_PORT,
  EGRESS_PORT,
  labelsOf,
  type Manifest,
  objectName,
  type Part,
  type Plan,
  selectorOf,
} from './manifest.ts'

/** The resolver of the cluster, and no other. */
const DNS = {
  to: [
    {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
      podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
    },
  ],
  ports: [
    { port: 53, protocol: 'UDP' },
    { port: 53, protocol: 'TCP' },
  ],
}
const tcp = (port: number) => ({ port, protocol: 'TCP' })

/**
 * What the pods of each part may reach, and who may reach them. What is not named is denied, in both directions.
 *
 * The server reaches only its egress proxy, which knows names of hosts; a policy knows addresses only. They need a
 * network plugin that enforces policies.
 */
export function toNetworkPolicies(plan: Plan): Manifest[] {
  const { server, publicHost, edgePorts } = plan
  const pods = (part: Part) => ({ podSelector: { matchLabels: selectorOf(plan, part) } })
  const anywhere = (ports: readonly number[]) => (ports.length ? [{ ports: ports.map(tcp) }] : [])
  const edge = policy(plan, 'edge', {
    ingress: [{ ...(publicHost ? {} : { from: [{ podSelector: {} }] }), ports: [tcp(EDGE_PORT)] }],
    egress: [
      DNS,
      ...(server ? [{ to: [pods('server')], ports: [tcp(server.port)] }] : []),
      ...anywhere(edgePorts),
    ],
  })
  if (!server) return [edge]
  const { reaches } = server
  const toProxy = { to: [pods('egress')], ports: [tcp(EGRESS_PORT)] }
  const serverPolicy = policy(plan, 'server', {
    ingress: [{ from: [pods('edge')], ports: [tcp(server.port)] }],
    egress: reaches ? [DNS, toProxy] : [],
  })
  if (!reaches) return [edge, serverPolicy]
  const egress = policy(plan, 'egress', {
    ingress: [{ from: [pods('server')], ports: [tcp(EGRESS_PORT)] }],
    egress: [DNS, ...(reaches === 'any' ? [{}] : anywhere(reaches))],
  })
  return [edge, serverPolicy, egress]
}

const policy = (
  plan: Plan,
  part: Part,
  rules: { readonly ingress: readonly object[]; readonly egress: readonly object[] },
): Manifest => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: objectName(plan, part), labels: labelsOf(plan, part) },
  spec: {
    podSelector: { matchLabels: selectorOf(plan, part) },
    policyTypes: ['Ingress', 'Egress'],
    ...rules,
  },
})
