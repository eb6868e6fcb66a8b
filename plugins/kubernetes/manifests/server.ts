import { proxyVariables } from '../../../src/net/proxy-variables.ts'
import { DRAIN_SECONDS, RUN_CONFIG_PATH, toDeployment, toService } from './deployment.ts'
import { EDGE_RESOURCES, WAIT_FOR_DRAIN } from './edge.ts'
import { EGRESS_PORT, type Manifest, objectName, type Plan, type ServerPlan } from './manifest.ts'

/** The server, and the proxy that is its only way out. */
export const toServer = (plan: Plan, server: ServerPlan): Manifest[] => [
  toDeployment(plan, 'server', {
    readsRunConfig: false,
    writable: ['/tmp', ...server.writable],
    replicas: 1,
    container: {
      image: server.image,
      args: server.args,
      env: Object.entries({
        ...server.env,
        ...(server.reaches
          ? {
              NODE_USE_ENV_PROXY: '1',
              ...proxyVariables(`http://${objectName(plan, 'egress')}:${EGRESS_PORT}`),
            }
          : {}),
      })
        .sort(([a], [b]) => (a < b ? -1 : 1))
        // `$(NAME)` in a value is a reference for the kubelet; `$$` is a dollar sign.
        .map(([name, value]) => ({ name, value: value.replaceAll('$', '$$$$') })),
      ports: [{ name: 'http', containerPort: server.port, protocol: 'TCP' }],
      resources: {
        requests: { cpu: '100m', memory: '128Mi' },
        limits: { cpu: server.cpu, memory: server.memory },
      },
      // Servers need not respond to GET, so only their port can be probed.
      startupProbe: { tcpSocket: { port: 'http' }, periodSeconds: 2, failureThreshold: 60 },
      readinessProbe: { tcpSocket: { port: 'http' }, periodSeconds: 5, failureThreshold: 3 },
      // The image may have no program that waits (Kubernetes 1.30 and later).
      lifecycle: { preStop: { sleep: { seconds: DRAIN_SECONDS } } },
    },
  }),
  toService(plan, 'server', server.port),
  ...(server.reaches ? toEgress(plan) : []),
]

const toEgress = (plan: Plan): Manifest[] => [
  toDeployment(plan, 'egress', {
    readsRunConfig: true,
    writable: ['/home/keelson', '/tmp'],
    replicas: 1,
    container: {
      image: plan.keelsonImage,
      args: [
        'egress',
        'proxy',
        '--from-config',
        RUN_CONFIG_PATH,
        '--host',
        '0.0.0.0',
        '--port',
        String(EGRESS_PORT),
      ],
      ports: [{ name: 'http', containerPort: EGRESS_PORT, protocol: 'TCP' }],
      resources: EDGE_RESOURCES,
      startupProbe: { tcpSocket: { port: 'http' }, periodSeconds: 2, failureThreshold: 60 },
      livenessProbe: { tcpSocket: { port: 'http' }, periodSeconds: 10, failureThreshold: 3 },
      readinessProbe: { tcpSocket: { port: 'http' }, periodSeconds: 5, failureThreshold: 3 },
      lifecycle: WAIT_FOR_DRAIN,
    },
  }),
  toService(plan, 'egress', EGRESS_PORT),
]
