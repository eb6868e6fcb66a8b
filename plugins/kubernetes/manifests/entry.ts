import { EDGE_PORT, labelsOf, type Manifest, objectName, type Plan } from './manifest.ts'

/** How the world reaches the edge: a route of a Gateway, or an Ingress. Streams last as long as their clients do. */
export function toEntry(plan: Plan): Manifest[] {
  const { publicHost, gateway } = plan
  if (publicHost === undefined) return []
  const name = objectName(plan, 'edge')
  const labels = labelsOf(plan, 'edge')
  if (gateway !== undefined) {
    return [
      {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'HTTPRoute',
        metadata: { name, labels },
        spec: {
          parentRefs: [{ name: gateway }],
          hostnames: [publicHost],
          rules: [
            { backendRefs: [{ name, port: EDGE_PORT }], timeouts: { request: '0s', backendRequest: '0s' } },
          ],
        },
      },
    ]
  }
  return [
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: {
        name,
        labels,
        // Of ingress-nginx, which ends and holds back streams by default.
        annotations: {
          'nginx.ingress.kubernetes.io/proxy-buffering': 'off',
          'nginx.ingress.kubernetes.io/proxy-read-timeout': '3600',
        },
      },
      spec: {
        tls: [{ hosts: [publicHost], secretName: `${name}-tls` }],
        rules: [
          {
            host: publicHost,
            http: {
              paths: [
                { path: '/', pathType: 'Prefix', backend: { service: { name, port: { name: 'http' } } } },
              ],
            },
          },
        ],
      },
    },
  ]
}
