import { AwsV4Signer } from 'aws4fetch'
import type { Exchange } from '../../src/contracts/pipeline.ts'
import type { Credentials } from './assume-role.ts'

/** Makes the signatures of requests for one server (AWS Signature Version 4). */
export function createSignRequest({
  region,
  service,
}: {
  readonly region: string
  readonly service: string
}): (exchange: Exchange, credentials: Credentials) => NonNullable<Exchange['sign']> {
  /** Signing keys, which are good for a day; the library fills it. */
  let keys = new Map<string, ArrayBuffer>()

  return (exchange, { accessKeyId, secretAccessKey, sessionToken }) => {
    dropAmazonHeaders(exchange)
    return async ({ method, url, body }) => {
      if (keys.size > MOST_KEYS) keys = new Map()
      const { headers } = await new AwsV4Signer({
        method,
        url,
        headers: amazonHeaders(exchange),
        ...(body?.length ? { body: new Uint8Array(body) } : {}),
        accessKeyId,
        secretAccessKey,
        sessionToken,
        region,
        service,
        cache: keys,
      }).sign()
      return new Map(headers)
    }
  }
}

const MOST_KEYS = 4096

const isAmazons = (name: string): boolean => name.startsWith('x-amz-')

/** AWS reads them as part of what is authorized: a client's own may neither replace nor add any. */
function dropAmazonHeaders(exchange: Exchange): void {
  for (const name of Object.keys(exchange.request.headers)) {
    if (isAmazons(name) && !exchange.ownHeaders?.has(name)) exchange.setHeader(name, undefined)
  }
}

/** Those that the user adds are signed. */
const amazonHeaders = ({ ownHeaders }: Exchange): [string, string][] =>
  [...(ownHeaders ?? [])].flatMap(([name, value]): [string, string][] =>
    isAmazons(name) && value !== undefined ? [[name, value]] : [],
  )
