import type { ServerDetails } from '../page-types.d.ts'

type Row = readonly [term: string, value: string | undefined]

/** What the registry says of a server, as far as somebody who runs it has to know. */
export const ServerFacts = ({ server }: { server: ServerDetails }) => {
  const { image, url, tier, permissions, oauth_config: login } = server
  return (
    <Facts
      rows={[
        ['Package', image],
        ['Runs at', url],
        ['Logs in at', login?.authorize_url || login?.issuer],
        ['Logs in as', login?.client_id],
        ['Tier', tier],
        ['May reach', url ? undefined : reachOf(permissions?.network?.outbound)],
        ['Wants to read', permissions?.read?.join(', ')],
        ['Wants to change', permissions?.write?.join(', ')],
      ]}
    />
  )
}

/** Terms and what stands for them; those without a value are left out. */
export function Facts({ rows }: { rows: readonly Row[] }) {
  const known = rows.filter(([, value]) => value)
  if (known.length === 0) return null
  return (
    <dl class="facts">
      {known.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

type Outbound = NonNullable<NonNullable<ServerDetails['permissions']>['network']>['outbound']

function reachOf({ insecure_allow_all, allow_host = [], allow_port = [] }: NonNullable<Outbound> = {}) {
  if (insecure_allow_all) return 'everything on the internet'
  if (!allow_host.length && !allow_port.length) return undefined
  const hosts = allow_host.join(', ') || 'any host'
  return allow_port.length ? `${hosts} (port ${allow_port.join(', ')})` : hosts
}
