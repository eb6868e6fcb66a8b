import { sectionRequest } from '../../src/http/section-request.ts'
import { isEmpty } from '../../src/lib/is-empty.ts'
import { nullable, object, optional } from '../../src/lib/schema.ts'
import { failures } from './failures.ts'
import { telemetryMembers } from './telemetry-members.ts'

const shape = { telemetry_config: optional(nullable(object(telemetryMembers))) }

/** What requests say of telemetry. A body that does not mention it keeps it as it is. */
export const telemetryRequest = sectionRequest({
  body: shape,
  details: shape,
  toOptions: () => ({}),
  toMembers({ telemetry_config: said }, { telemetry_config: before }) {
    if (!said) return {}
    // Files and variables of this machine are named by people who have typed a command.
    if (said.caCertPath && said.caCertPath !== before?.caCertPath) {
      throw failures.telemetry_over_http({ member: 'caCertPath' })
    }
    // Values that go to one endpoint do not go to another without that.
    const known = new Set(said.endpoint === before?.endpoint ? before?.environmentVariables : [])
    if (said.environmentVariables?.some(name => !known.has(name))) {
      throw failures.telemetry_over_http({ member: 'environmentVariables' })
    }
    return { telemetry_config: said }
  },
  toDetails: ({ telemetry_config: said }) => (said && !isEmpty(said) ? { telemetry_config: said } : {}),
  keptAlways: ['telemetry_config'],
})
