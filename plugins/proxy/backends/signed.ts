import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { Outgoing } from './relay-http.ts'

export type Sign = NonNullable<Exchange['sign']>

/** The request with its signature, which takes the place of another one. */
export async function signed(outgoing: Outgoing, sign: Sign): Promise<Outgoing> {
  const { origin, path, method, body } = outgoing
  if (body !== null && !Buffer.isBuffer(body))
    throw new Error('a body that has not been read cannot be signed')
  const own = await sign({ method, url: `${origin}${path}`, body: body ?? undefined })
  const headers: string[] = []
  for (let i = 0; i < outgoing.headers.length; i += 2) {
    const [name = '', value = ''] = outgoing.headers.slice(i, i + 2)
    if (!own.has(name.toLowerCase())) headers.push(name, value)
  }
  return { ...outgoing, headers: [...headers, ...[...own].flat()] }
}
