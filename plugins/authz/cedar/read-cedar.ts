import type { Caller } from '../../../src/contracts/caller-auth.ts'
import type { CedarConfig } from '../authz-config.ts'
import type { AuthzSource } from '../authz-source.ts'
import { failures } from '../failures.ts'
import type { Surroundings } from './build-call.ts'
import { type Cedar, loadCedar } from './load-cedar.ts'
import { createPrincipals, type Principal } from './principal.ts'
import { type Policy, type PolicyProblem, readPolicies } from './read-policies.ts'
import { readEntities } from './static-entities.ts'

const GROUP_TYPE = 'THVGroup'

/** A configuration of Cedar, parsed. */
export interface CedarPolicies {
  readonly cedar: Cedar
  readonly policies: readonly Policy[]
  readonly surroundings: Surroundings
  principalOf(caller: Caller): Principal
}

/** Parses policies and entities. Fails with `authz_config_invalid`, naming each policy and line that is wrong. */
export async function readCedar(
  config: CedarConfig,
  { server, source }: { server: string; source: Pick<AuthzSource, 'where' | 'locate'> },
): Promise<CedarPolicies> {
  const cedar = await loadCedar()
  const { policies, problems } = readPolicies(cedar, config.policies, source.locate)
  const entities = readEntities(cedar, config.entities_json)
  if (problems.length || typeof entities === 'string') {
    const found = [
      ...problems.map(describeProblem),
      ...(typeof entities === 'string' ? [`cedar.entities_json: ${entities}`] : []),
    ]
    throw failures.authz_config_invalid({ where: source.where, problem: found.join('; ') })
  }
  return {
    cedar,
    policies,
    surroundings: { entities, server, groupType: config.group_entity_type || GROUP_TYPE },
    principalOf: createPrincipals(config),
  }
}

const describeProblem = ({ place: { file, text, line }, problem }: PolicyProblem): string =>
  file
    ? `line ${file.line}, column ${file.column}: ${problem}`
    : `cedar.policies, text ${text}, line ${line}: ${problem}`
