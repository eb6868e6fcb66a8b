import { labelsOf, type Manifest, objectName, type Plan, selectorOf } from './manifest.ts'

/** For edges of which any may serve any request: more of them under load, and never none while nodes are emptied. */
export function toAvailability(plan: Plan): Manifest[] {
  if (!plan.stateless) return []
  const metadata = { name: objectName(plan, 'edge'), labels: labelsOf(plan, 'edge') }
  return [
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: { minAvailable: 1, selector: { matchLabels: selectorOf(plan, 'edge') } },
    },
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata,
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: metadata.name },
        minReplicas: 2,
        maxReplicas: 10,
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } },
          },
        ],
      },
    },
  ]
}
