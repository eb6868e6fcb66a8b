import type { ComponentChildren } from 'preact'
import type { Workload } from '../page-types.d.ts'
import { CopyButton } from './copy-button.tsx'

/** A list of terms, each with what it stands for. */
export const Fact = ({ term, children }: { term: string; children: ComponentChildren }) => (
  <div>
    <dt>{term}</dt>
    <dd>{children}</dd>
  </div>
)

/** What is known of a workload without asking. */
export function Facts({ workload }: { workload: Workload }) {
  const { url, package: what, transport_type: own, proxy_mode: spoken = own } = workload
  const { group, started_at, remote, no_sandbox } = workload
  const started = new Date(started_at)
  return (
    <dl class="facts">
      {url && (
        <div>
          <dt>URL</dt>
          <dd class="address">
            <code>{url}</code>
            <CopyButton text={() => url} label="Copy the URL" />
          </dd>
        </div>
      )}
      {what && <Fact term={remote ? 'Runs at' : 'Package'}>{what}</Fact>}
      <Fact term="Transport">{spoken === own ? spoken : `${spoken} (the server itself: ${own})`}</Fact>
      {no_sandbox && <Fact term="Sandbox">none: it can read, change and reach all that you can</Fact>}
      {group && group !== 'default' && <Fact term="Group">{group}</Fact>}
      {started.getFullYear() > 1 && <Fact term="Up since">{started.toLocaleString()}</Fact>}
    </dl>
  )
}
