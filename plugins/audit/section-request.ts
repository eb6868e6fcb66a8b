import { httpFailures } from '../../src/http/failures.ts'
import { sectionRequest } from '../../src/http/section-request.ts'
import { nullable, object, optional } from '../../src/lib/schema.ts'
import { auditMembers } from './audit-members.ts'

const shape = { audit_config: optional(nullable(object(auditMembers))) }

/** What requests say of the audit. A body that does not mention it keeps it as it is. */
export const auditRequest = sectionRequest({
  body: shape,
  details: shape,
  toOptions: () => ({}),
  toMembers({ audit_config: said }, { audit_config: before }) {
    if (!said) return {}
    // Requests over HTTP cannot name files of this machine, nor where its events are sent.
    for (const name of ['logFile', 'syslog'] as const) {
      if (said[name] && said[name] !== before?.[name]) {
        throw httpFailures.request_unsupported({ member: `audit_config.${name}` })
      }
    }
    return { audit_config: said }
  },
  toDetails: ({ audit_config }) => (audit_config ? { audit_config } : {}),
  keptAlways: ['audit_config'],
})
