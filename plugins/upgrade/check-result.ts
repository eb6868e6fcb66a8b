/** What a check found out; the words of the management API. */
export type UpgradeStatus =
  | 'up-to-date'
  | 'upgrade-available'
  | 'not-registry-sourced'
  | 'server-not-found'
  | 'unknown'

/** A variable as registry entries describe it. Of a secret one no value is ever shown. */
export interface VariableDefinition {
  name: string
  description?: string
  required: boolean
  secret?: boolean
  default?: string
}

export interface EnvVarDrift {
  /** What the candidate asks for and the workload does not give. */
  added: VariableDefinition[]
  /** What the workload gives, from its entry, and the candidate no longer asks for. */
  removed: VariableDefinition[]
}

interface Change {
  from: string
  to: string
}

export interface ConfigDrift {
  transport?: Change
  permission_profile?: Change
}

/** One workload beside the entry that it was made from. Drift comes with `upgrade-available` only. */
export interface UpgradeCheck {
  workload_name: string
  registry_server?: string
  status: UpgradeStatus
  current_image?: string
  candidate_image?: string
  /** Why the status is what it is, where it does not say so itself. */
  reason?: string
  env_var_drift?: EnvVarDrift
  config_drift?: ConfigDrift
}
