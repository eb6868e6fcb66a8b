import {
  bool,
  closed,
  described,
  either,
  integer,
  list,
  nullable,
  object,
  oneOf,
  optional,
  type TypeOf,
  text,
} from '../../src/lib/schema.ts'

const tlsConfig = object(
  {
    ca_bundle_path: optional(described(text, 'Absolute path of PEM certificates: only these are trusted')),
    client_cert_path: optional(
      described(text, 'Absolute path of a PEM certificate that we show (mutual TLS)'),
    ),
    client_key_path: optional(described(text, 'Absolute path of its private key')),
    insecure_skip_verify: optional(
      described(bool, 'The certificate is not checked, and the URL may be http'),
    ),
  },
  closed,
)

export const webhookSchema = object(
  {
    name: described(text, 'Unique among those of its kind'),
    url: described(text, 'Gets a POST for each message of a client'),
    failure_policy: described(oneOf(['fail', 'ignore']), 'What happens to messages while it fails'),
    timeout: optional(
      described(
        nullable(either(integer, text)),
        'The longest time for a response, `1s` to `30s` or as nanoseconds; `10s` without it',
      ),
    ),
    hmac_secret_ref: optional(
      described(text, 'The key of the signature: absolute path of a file, or name of a secret'),
    ),
    tls_config: optional(nullable(tlsConfig)),
    allow_private_ip: optional(described(bool, 'It may be at a private address. Ours')),
  },
  closed,
)

/** A webhook as a run config describes it. */
export type WebhookConfig = TypeOf<typeof webhookSchema>

export const webhookList = list(webhookSchema)

/** The members of the run config. */
export const webhookMembers = {
  /** They change messages of clients, one after another. */
  mutating_webhooks: optional(nullable(webhookList)),
  /** They judge messages of clients after that. */
  validating_webhooks: optional(nullable(webhookList)),
}

export const WEBHOOK_LISTS = ['mutating_webhooks', 'validating_webhooks'] as const
