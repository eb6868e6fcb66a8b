import { TooManyNames } from '../../../src/lib/parse-json.ts'
import { detached, memberText, mergeRaw, omitRaw, toRaw } from '../../../src/lib/raw-json.ts'
import {
  paramsObject,
  paramText,
  type Request,
  readMessage,
  withParams,
} from '../../../src/net/rpc-message.ts'
import { revision20260728 } from '../revisions/index.ts'
import { CAPABILITIES, INFO, LOG_LEVEL, MAX_INFO, VERSION } from './modern-meta.ts'
import { withoutTasks } from './without-tasks.ts'

/** What a client has said of itself in `initialize`, for the metadata of its requests (2026-07-28, `_meta`). */
export interface ClientMetadata {
  /** Raw text; undefined when the client does not say who it is. */
  readonly infoText: string | undefined
  /** Raw text. */
  readonly capabilitiesText: string
  /** As the client has set it with `logging/setLevel`. */
  logLevel: string | undefined
}

const OURS: ReadonlySet<string> = new Set([VERSION, INFO, CAPABILITIES, LOG_LEVEL])

/** Parameters that mean another thing in 2026-07-28 than in the revision of the client, or are the proxy's to set. */
const RESERVED: ReadonlySet<string> = new Set(['inputResponses', 'requestState', 'task'])

/** Reads the parameters of `initialize`. */
export function readClientMetadata(paramsText: string): ClientMetadata {
  const capabilities = memberText(paramsText, 'capabilities') ?? '{}'
  const info = memberText(paramsText, 'clientInfo')
  return {
    infoText: info === undefined || info.length > MAX_INFO ? undefined : detached(info),
    capabilitiesText: withoutTasks(capabilities),
    logLevel: undefined,
  }
}

/** The metadata of a request, as members of `_meta`. */
export function metadataOf({ infoText, capabilitiesText, logLevel }: ClientMetadata): string {
  const members = [
    `"${VERSION}":"${revision20260728.version}"`,
    ...(infoText === undefined ? [] : [`"${INFO}":${infoText}`]),
    `"${CAPABILITIES}":${capabilitiesText}`,
    ...(logLevel === undefined ? [] : [`"${LOG_LEVEL}":${toRaw(JSON.stringify(logLevel))}`]),
  ]
  return `{${members.join(',')}}`
}

/**
 * A request of the client as a server of 2026-07-28 takes it. Everything else stays as it was written: progress
 * token, trace context, unknown members.
 *
 * Throws `TooManyNames` if the result would have more escaped names than are read.
 *
 * @param added more parameters, as a raw object
 */
export function withMetadata(request: Request, metadata: ClientMetadata, added = '{}'): Request {
  // What is no object cannot carry metadata; the server refuses it.
  if (request.params && paramText(request)?.[0] !== '{') return request
  const meta = omitRaw(paramText(request, '_meta') ?? '{}', name => OURS.has(name))
  const own = `"_meta":${mergeRaw(meta, metadataOf(metadata))}`
  const others = omitRaw(paramsObject(request), name => name === '_meta' || RESERVED.has(name))
  const parts = [others, added].map(object => object.slice(1, -1)).filter(part => part !== '')
  const changed = withParams(request, `{${[...parts, own].join(',')}}`)
  // Only these can take more escaped names to the request than it had.
  const isSafe = !own.includes('\\') && !added.includes('\\')
  if (!isSafe && !readMessage(changed.text)) throw new TooManyNames()
  return changed
}
