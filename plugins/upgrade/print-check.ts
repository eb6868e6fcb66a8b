import type { UpgradeCheck } from './check-result.ts'

/** The lines that show the outcome of a check. */
export function factLines(check: UpgradeCheck): string[] {
  const facts = [
    ['Workload', check.workload_name],
    ['Status', check.status],
    ['Registry', check.registry_server],
    ['Current', check.current_image],
    ['Candidate', check.candidate_image],
    ['Reason', check.reason],
  ] as const
  return facts.flatMap(([title, value]) => (value ? [`${`${title}:`.padEnd(11)}${value}`] : []))
}

/** The lines that show what the newer version changes; none when it changes nothing. */
export function changeLines(check: UpgradeCheck): string[] {
  const { added = [], removed = [] } = check.env_var_drift ?? {}
  const { transport, permission_profile: profile } = check.config_drift ?? {}
  return [
    ...(added.length ? ['New variables:'] : []),
    ...added.map(one => {
      const marks = [one.required && 'required', one.secret && 'secret'].filter(Boolean).join(', ')
      return `  ${one.name}${marks ? ` (${marks})` : ''}${one.description ? `: ${one.description}` : ''}`
    }),
    ...(removed.length ? ['Variables no longer used:'] : []),
    ...removed.map(({ name }) => `  ${name}`),
    ...(transport || profile ? ['Posture:'] : []),
    ...(transport ? [`  transport: ${transport.from} -> ${transport.to}`] : []),
    ...(profile ? [`  permission profile: ${profile.from} -> ${profile.to}`] : []),
  ]
}
