import type { DeniedDestination } from '../page-types.d.ts'
import { confirm } from './dialog.tsx'

/** Asks whether a workload may reach a destination, and shows the whole of what it may reach then. */
export function askToAllow(workload: string, { host, port, widened }: DeniedDestination): Promise<boolean> {
  const { allow_host: hosts = [], allow_port: ports = [] } = widened ?? {}
  const at = ports.length > 0 ? `port ${ports.join(', ')}` : 'any port'
  const list = (
    <ul class="mounts">
      {hosts.map(one => (
        <li key={one}>
          <code>{one}</code>
        </li>
      ))}
    </ul>
  )
  return confirm({
    title: 'Allow this host?',
    text: `${workload} asked for ${host}:${port}. It may then reach, at ${at}:`,
    more: hosts.length > 0 ? list : <p>every host of the public internet</p>,
    action: 'Allow',
    danger: true,
  })
}
