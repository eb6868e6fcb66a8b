import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { headerRefs, secretObjectName } from '../secret-refs.ts'
import { carry, otherMembers } from './carry.ts'
import { sessionStorage, sharedMembers } from './shared-members.ts'

/** The spec of an MCPRemoteProxy, and the members that it cannot hold. */
export const toMcpRemoteProxy = (config: RunConfig, objectName: string): { spec: object; lost: string[] } =>
  carry(config, {
    ...sharedMembers,
    remote_url: url => ({ spec: { remoteUrl: url } }),
    transport: transport => ({ spec: { transport } }),
    // Without an instance there is nothing that this could say anything about.
    proxy_mode: () => ({}),
    permission_profile: () => ({}),
    header_forward: ({ add_plaintext_headers: plain = {}, ...rest }) => ({
      spec: {
        headerForward: {
          ...(Object.keys(plain).length ? { addPlaintextHeaders: plain } : {}),
          ...(Object.keys(rest.add_headers_from_secret ?? {}).length
            ? {
                addHeadersFromSecret: headerRefs(config).map(({ header, key }) => ({
                  headerName: header,
                  valueSecretRef: { name: secretObjectName(objectName), key },
                })),
              }
            : {}),
        },
      },
      lost: otherMembers('header_forward', rest, ['add_headers_from_secret']),
    }),
    scaling_config: scaling => ({
      spec: sessionStorage(scaling),
      ...(scaling.backend_replicas ? { lost: ['scaling_config.backend_replicas'] } : {}),
    }),
  })
