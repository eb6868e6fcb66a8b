import { dirname, resolve } from 'node:path'
import { messageOf } from '../../src/errors.ts'
import { describeJsonError } from '../../src/lib/json-error.ts'
import { nullable, object, optional, type TypeOf } from '../../src/lib/schema.ts'
import { findErrors } from '../../src/schema-check.ts'
import { readUserFile } from '../../src/user-file.ts'
import { assertWebhook } from './assert-webhook.ts'
import { failures } from './failures.ts'
import { type WebhookConfig, webhookList } from './webhook-members.ts'

const fileSchema = object(
  {
    validating: optional(nullable(webhookList)),
    mutating: optional(nullable(webhookList)),
  },
  { additionalProperties: false },
)

/** Webhooks as members of a run config. */
export interface WebhookLists {
  readonly mutating_webhooks?: WebhookConfig[]
  readonly validating_webhooks?: WebhookConfig[]
}

/**
 * Reads files of `--webhook-config`. Of two webhooks of one kind and name the later one takes the place of the other.
 * Fails with `file_missing`, `file_unreadable`, `webhook_file_invalid` and `webhook_invalid`.
 */
export async function readWebhookFiles(files: readonly string[]): Promise<WebhookLists> {
  const mutating = new Map<string, WebhookConfig>()
  const validating = new Map<string, WebhookConfig>()
  for (const file of files) {
    const path = resolve(file)
    const said = await readWebhookFile(path)
    for (const webhook of said.mutating ?? []) mutating.set(webhook.name, withWholePaths(webhook, path))
    for (const webhook of said.validating ?? []) validating.set(webhook.name, withWholePaths(webhook, path))
  }
  for (const webhook of [...mutating.values(), ...validating.values()]) assertWebhook(webhook)
  return {
    ...(mutating.size ? { mutating_webhooks: [...mutating.values()] } : {}),
    ...(validating.size ? { validating_webhooks: [...validating.values()] } : {}),
  }
}

async function readWebhookFile(path: string): Promise<TypeOf<typeof fileSchema>> {
  const text = await readUserFile(path, 'The --webhook-config file')
  const value = path.endsWith('.json') ? readJson(path, text) : await readYaml(path, text)
  const problem = findErrors(fileSchema, value)
  if (problem !== undefined) throw failures.webhook_file_invalid({ path, problem })
  const said = value as TypeOf<typeof fileSchema>
  if (said.mutating?.length || said.validating?.length) return said
  throw failures.webhook_file_invalid({ path, problem: 'it names no webhook' })
}

function readJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw failures.webhook_file_invalid({ path, problem: describeJsonError(text) })
  }
}

async function readYaml(path: string, text: string): Promise<unknown> {
  const { parseYaml } = await import('../../src/lib/parse-yaml.ts')
  try {
    return parseYaml(text)
  } catch (error) {
    throw failures.webhook_file_invalid({ path, problem: messageOf(error) }, { cause: error })
  }
}

/** The server runs in another folder than the one where its files were named. */
function withWholePaths(webhook: WebhookConfig, file: string): WebhookConfig {
  const { tls_config: tls } = webhook
  if (!tls) return webhook
  const paths = (['ca_bundle_path', 'client_cert_path', 'client_key_path'] as const).flatMap(member => {
    const path = tls[member]
    return path ? [[member, resolve(dirname(file), path)]] : []
  })
  return { ...webhook, tls_config: { ...tls, ...Object.fromEntries(paths) } }
}
