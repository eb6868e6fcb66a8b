import { DRAIN_SECONDS, RUN_CONFIG_PATH, toDeployment, toService } from './deployment.ts'
import { EDGE_PORT, labelsOf, type Manifest, type Plan } from './manifest.ts'

/** Limits of the containers that run keelson. */
export const EDGE_RESOURCES = {
  requests: { cpu: '100m', memory: '128Mi' },
  limits: { cpu: '1', memory: '512Mi' },
}

/** Node stays until the pod gets no new requests; there is no `sleep` in the image. SIGTERM follows. */
export const WAIT_FOR_DRAIN = {
  preStop: {
    exec: { command: ['/usr/local/bin/node', '-e', `setTimeout(() => {}, ${DRAIN_SECONDS * 1000})`] },
  },
}

/** keelson in front of the server, with all that the run config says of logins, tools and limits. */
export const toEdge = (plan: Plan): Manifest[] => [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: plan.name, labels: labelsOf(plan, 'edge') },
    data: { 'runconfig.json': plan.runConfig },
  },
  toDeployment(plan, 'edge', {
    readsRunConfig: true,
    writable: ['/home/keelson', '/tmp'],
    ...(plan.stateless ? {} : { replicas: 1 }),
    container: {
      image: plan.keelsonImage,
      args: ['run', '--from-config', RUN_CONFIG_PATH, '--foreground'],
      env: [{ name: 'KEELSON_SECRETS_PROVIDER', value: 'environment' }],
      ports: [{ name: 'http', containerPort: EDGE_PORT, protocol: 'TCP' }],
      resources: EDGE_RESOURCES,
      // `/health` is 503 while the server does not respond. That is no reason to restart the edge.
      startupProbe: { tcpSocket: { port: 'http' }, periodSeconds: 2, failureThreshold: 60 },
      livenessProbe: { tcpSocket: { port: 'http' }, periodSeconds: 10, failureThreshold: 3 },
      readinessProbe: {
        httpGet: { path: '/health', port: 'http' },
        periodSeconds: 5,
        timeoutSeconds: 5,
        failureThreshold: 3,
      },
      lifecycle: WAIT_FOR_DRAIN,
    },
  }),
  toService(plan, 'edge', EDGE_PORT),
]
