/** The outcomes of a check, as the HTTP API names them. */
export type UpgradeStatus =
  | 'up-to-date'
  | 'upgrade-available'
  | 'not-registry-sourced'
  | 'server-not-found'
  | 'unknown'

/** A variable as registry entries describe it. The value of a secret one is never shown. */
export interface VariableDefinition {
  name: string
  description?: string
  required: boolean
  secret?: boolean
  default?: string
}

export interface EnvVarDrift {
  /** Variables that the candidate wants and the workload does not have. */
  added: VariableDefinition[]
  /** Variables of the workload's entry that the candidate no longer wants. */
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

/** The comparison of a workload with its registry entry. It has drift only with `upgrade-available`. */
export interface UpgradeCheck {
  workload_name: string
  registry_server?: string
  status: UpgradeStatus
  current_image?: string
  candidate_image?: string
  /** The reason of the status, where the status alone does not explain it. */
  reason?: string
  env_var_drift?: EnvVarDrift
  config_drift?: ConfigDrift
}
