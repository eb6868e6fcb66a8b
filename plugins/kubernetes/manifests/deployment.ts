import { createHash } from 'node:crypto'
import { labelsOf, type Manifest, objectName, type Part, type Plan, selectorOf } from './manifest.ts'

/** What differs between the pods of the parts. */
export interface PodParts {
  readonly container: Readonly<Record<string, unknown>>
  /** Paths of empty, writable folders. */
  readonly writable: readonly string[]
  readonly readsRunConfig: boolean
  /** Absent: an autoscaler sets it. */
  readonly replicas?: number
}

/** How long a pod that ends is still sent requests, at most, in seconds: until all nodes know that it ends. */
export const DRAIN_SECONDS = 10
const RUN_CONFIG = 'run-config'

/** Where containers of keelson find the run config. */
export const RUN_CONFIG_PATH = '/etc/keelson/runconfig.json'

/** A Deployment of one container that keeps the restricted standard of Pod Security. */
export function toDeployment(plan: Plan, part: Part, pod: PodParts): Manifest {
  const variables = plan.secrets.filter(secret => secret.part === part)
  const { env = [], ...container } = pod.container as { env?: readonly object[] }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: objectName(plan, part), labels: labelsOf(plan, part) },
    spec: {
      ...(pod.replicas === undefined ? {} : { replicas: pod.replicas }),
      selector: { matchLabels: selectorOf(plan, part) },
      template: {
        metadata: {
          labels: labelsOf(plan, part),
          // Pods are replaced when the run config changes.
          ...(pod.readsRunConfig
            ? { annotations: { 'keelson.dev/run-config': digest(plan.runConfig) } }
            : {}),
        },
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 60,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 1000,
            runAsGroup: 1000,
            fsGroup: 1000,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          containers: [
            {
              name: part,
              ...container,
              env: [
                ...env,
                ...variables.map(({ variable, key }) => ({
                  name: variable,
                  valueFrom: { secretKeyRef: { name: `${plan.name}-secrets`, key } },
                })),
              ],
              securityContext: {
                allowPrivilegeEscalation: false,
                capabilities: { drop: ['ALL'] },
                readOnlyRootFilesystem: true,
              },
              volumeMounts: [
                ...pod.writable.map((path, index) => ({ name: `writable-${index}`, mountPath: path })),
                ...(pod.readsRunConfig
                  ? [{ name: RUN_CONFIG, mountPath: '/etc/keelson', readOnly: true }]
                  : []),
              ],
            },
          ],
          volumes: [
            ...pod.writable.map((_, index) => ({
              name: `writable-${index}`,
              emptyDir: { sizeLimit: '1Gi' },
            })),
            ...(pod.readsRunConfig ? [{ name: RUN_CONFIG, configMap: { name: plan.name } }] : []),
          ],
        },
      },
    },
  }
}

/** A Service in front of a part. */
export function toService(plan: Plan, part: Part, port: number): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: objectName(plan, part), labels: labelsOf(plan, part) },
    spec: {
      selector: selectorOf(plan, part),
      ports: [{ name: 'http', port, targetPort: 'http', protocol: 'TCP' }],
    },
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
