import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { toObjectName } from '../object-name.ts'
import { type Carried, otherMembers } from './carry.ts'

const CEDAR = ['policies', 'entities_json', 'group_claim_name', 'role_claim_name', 'group_entity_type']

/** Members that MCPServer and MCPRemoteProxy hold alike. */
export const sharedMembers = {
  port: (port: number): Carried => ({ spec: { proxyPort: port } }),
  group: (group: string): Carried =>
    group === 'default' ? {} : { spec: { groupRef: { name: toObjectName({ name: group }) } } },
  trust_proxy_headers: (): Carried => ({ spec: { trustProxyHeaders: true } }),
  endpoint_prefix: (prefix: string): Carried => ({ spec: { endpointPrefix: prefix } }),
  audit_config: (audit: NonNullable<RunConfig['audit_config']>): Carried => ({
    ...(audit.enabled === false ? {} : { spec: { audit: { enabled: true } } }),
    lost: otherMembers('audit_config', audit, ['enabled']),
  }),
  authz_config(authz: NonNullable<RunConfig['authz_config']>): Carried {
    const { cedar } = authz
    const lost = otherMembers('authz_config', authz, ['version', 'type', 'cedar'])
    if (!cedar) return { lost: lost.length ? lost : ['authz_config'] }
    return {
      spec: {
        authzConfig: {
          type: 'inline',
          inline: {
            policies: cedar.policies,
            ...(cedar.entities_json ? { entitiesJson: cedar.entities_json } : {}),
          },
          ...(cedar.group_claim_name ? { groupClaimName: cedar.group_claim_name } : {}),
          ...(cedar.role_claim_name ? { roleClaimName: cedar.role_claim_name } : {}),
          ...(cedar.group_entity_type ? { groupEntityType: cedar.group_entity_type } : {}),
        },
      },
      lost: [...lost, ...otherMembers('authz_config.cedar', cedar, CEDAR)],
    }
  },
} as const

/** The Redis of sessions. */
export function sessionStorage({ session_redis: redis }: NonNullable<RunConfig['scaling_config']>): object {
  if (!redis?.address) return {}
  return {
    sessionStorage: {
      provider: 'redis',
      address: redis.address,
      ...(redis.db ? { db: redis.db } : {}),
      ...(redis.key_prefix ? { keyPrefix: redis.key_prefix } : {}),
    },
  }
}
