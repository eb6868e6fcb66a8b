import type { ComponentChildren } from 'preact'
import type { Grants } from '../page-types.d.ts'
import { Fact } from './facts.tsx'

/** What a workload may do, each with a heading of its own. */
export const Grant = ({ grants, isRemote }: { grants: Grants; isRemote: boolean }) => {
  const { details, config, middlewares } = grants
  const { resources: { memory, cpus } = {}, image_signer: signer, image_verification: mode } = config
  const variables = Object.keys(details.env_vars)
  return (
    <dl class="facts">
      <Fact term="Network">
        {isRemote ? 'It runs elsewhere; nothing here limits it.' : describeReach(grants)}
      </Fact>
      {!isRemote && <Fact term="Files">{describeFiles(grants)}</Fact>}
      {!isRemote && (
        <Fact term="Limits">
          {[memory && `${memory} of memory`, cpus && `${cpus} cores`].filter(Boolean).join(', ') ||
            'None on memory and processors.'}
        </Fact>
      )}
      {(signer || mode) && (
        <Fact term="Image">
          {signer?.verified
            ? `The signature was verified: ${signer.identity ?? signer.repository ?? signer.issuer}`
            : 'The signature was not verified.'}
          {mode && ` Verification is ${mode}.`}
        </Fact>
      )}
      <Fact term="Secrets">
        {details.secrets.length === 0
          ? 'None.'
          : rows(
              details.secrets.map(({ name, target }) => (name === target ? name : `${name} as ${target}`)),
            )}
      </Fact>
      {variables.length > 0 && <Fact term="Variables">{rows(variables)}</Fact>}
      {middlewares.length > 0 && (
        <Fact term="Requests pass">
          {rows(middlewares.map(({ name, description }) => (description ? `${name}: ${description}` : name)))}
        </Fact>
      )}
    </dl>
  )
}

const rows = (texts: readonly string[]): ComponentChildren => (
  <ul>
    {texts.map((text, index) => (
      <li key={index}>
        <code>{text}</code>
      </li>
    ))}
  </ul>
)

function describeReach({ details, config }: Grants): ComponentChildren {
  const { permission_profile: profile, no_sandbox } = details
  const { mode = '', outbound = {} } = profile?.network ?? {}
  const { insecure_allow_all: all, allow_host: hosts = [], allow_port: ports = [] } = outbound
  if (no_sandbox) return 'Everything: it runs without a sandbox.'
  if (mode === 'none') return 'It has no network.'
  if (config.isolate_network === false || !['', 'bridge', 'default'].includes(mode))
    return `Everything that this machine reaches${mode ? ` (network ${mode})` : ''}: it is not isolated.`
  if (!profile || all) return 'Every host of the public internet, through the egress proxy.'
  const at = ports.length > 0 ? `At port ${ports.join(', ')}` : 'At any port'
  if (hosts.length > 0)
    return (
      <>
        {at}, only these:
        {rows(hosts)}
      </>
    )
  return ports.length > 0 ? `${at} of every host of the public internet.` : 'It reaches no host.'
}

function describeFiles({ details }: Grants): ComponentChildren {
  if (details.no_sandbox) return 'All of yours: it runs without a sandbox.'
  const { read = [], write = [] } = details.permission_profile ?? {}
  const mounts = [...write.map(path => `${path} (read and change)`), ...read.map(path => `${path} (read)`)]
  return mounts.length > 0 ? rows(mounts) : 'None of yours.'
}
