import {
  bool,
  closed,
  described,
  nullable,
  number,
  object,
  oneOf,
  optional,
  type TypeOf,
  text,
  texts,
} from '../../src/lib/schema.ts'

const maybeText = optional(nullable(text))

const cedar = object(
  {
    policies: described(texts, 'Policies in the language Cedar, one or more in each text'),
    entities_json: optional(
      nullable(described(text, 'Entities that policies name, as JSON text in the form of Cedar')),
    ),
    group_claim_name: optional(nullable(described(text, 'The claim with the groups of a caller'))),
    role_claim_name: optional(nullable(described(text, 'A claim with further groups, such as roles'))),
    group_entity_type: optional(nullable(described(text, 'The type of groups; `THVGroup` without it'))),
    multi_valued_claims: optional(
      nullable(described(texts, 'Claims that are given as sets too, as `claimset_NAME`')),
    ),
    primary_upstream_provider: optional(
      nullable(described(text, 'Not supported: claims are those of the token')),
    ),
  },
  closed,
)

const pdp = object(
  {
    http: object(
      {
        url: described(text, 'The decision point; it is asked at `URL/decision`'),
        timeout: optional(nullable(described(number, 'In seconds; 30 without it'))),
        insecure_skip_verify: optional(nullable(described(bool, 'Accept any certificate'))),
      },
      closed,
    ),
    claim_mapping: oneOf(['mpe', 'standard']),
    context: optional(
      nullable(object({ include_args: optional(bool), include_operation: optional(bool) }, closed)),
    ),
  },
  closed,
)

/** The configuration of authorization: the file of `--authz-config`, and the member `authz_config`. */
export const authzConfig = object(
  {
    version: maybeText,
    type: maybeText,
    cedar: optional(nullable(cedar)),
    pdp: optional(nullable(pdp)),
  },
  closed,
)

export type AuthzConfig = TypeOf<typeof authzConfig>
export type CedarConfig = TypeOf<typeof cedar>
export type PdpConfig = TypeOf<typeof pdp>
