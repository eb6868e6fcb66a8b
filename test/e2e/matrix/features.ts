import { isDeepStrictEqual } from 'node:util'
import { FAILURE, WATCHED } from '../../../fixtures/eras/catalogue.ts'
import type { FeatureName } from './combinations.ts'
import type { EraClient } from './era-client.ts'

const TEXT = 'größer → 🙂'

/** What a client does to find out whether a feature works: an error says that it does not. */
export const CHECKS: Readonly<
  Record<FeatureName, (client: EraClient, signal: AbortSignal, label: string) => Promise<void>>
> = {
  async tools(client, signal) {
    same((await client.toolNames()).slice(0, 2), ['echo', 'count'])
    same((await client.call('echo', { text: TEXT }, { signal })).text, TEXT)
  },
  async progress(client, signal) {
    const before = client.heard('notifications/progress').length
    same((await client.call('count', {}, { signal, progress: true })).text, 'counted')
    const heard = () => client.heard('notifications/progress').slice(before)
    // The SDK for Go takes notifications and responses at its own pace.
    await repeat(signal, async () => heard().length >= 3)
    same(
      heard().map(({ progress }) => progress),
      [1, 2, 3],
    )
  },
  async sampling(client, signal) {
    same((await client.call('sample', {}, { signal })).text, TEXT)
  },
  async 'elicitation, form'(client, signal) {
    same((await client.call('form', {}, { signal })).text, 'ada')
  },
  async 'elicitation, URL'(client, signal) {
    same((await client.call('url', {}, { signal })).text, 'accept')
  },
  async roots(client, signal) {
    same((await client.call('roots', {}, { signal })).text, 'file:///home/ada')
  },
  async logging(client, signal) {
    await client.wantLogs()
    await repeat(signal, async () => {
      await client.call('log', {}, { signal })
      return client.heard('notifications/message').some(({ data }) => data === 'from the tool')
    })
  },
  async subscriptions(client, signal) {
    await client.watch('resource')
    await repeat(signal, async () => {
      await client.call('touch', {}, { signal })
      return client.heard('notifications/resources/updated').some(({ uri }) => uri === WATCHED)
    })
  },
  async 'list-changed'(client, signal) {
    await client.watch('tools')
    await repeat(signal, async () => {
      await client.call('toggle', {}, { signal })
      return client.heard('notifications/tools/list_changed').length > 0
    })
    same((await client.toolNames()).includes('extra'), true)
  },
  async completion(client) {
    same(await client.complete('a'), ['ada', 'alan'])
  },
  async pagination(client) {
    same((await client.toolNames()).slice(4, 6), ['seen', 'sample'])
  },
  async errors(client, signal) {
    same((await client.call('broken', {}, { signal })).isError, true)
    const { code, data } = FAILURE
    const error = await client.call('fail', {}, { signal }).then(
      () => undefined,
      (error: { code?: number; data?: unknown; message: string }) => error,
    )
    if (error?.code !== code) throw error ?? new Error('a refused call succeeded')
    same(error.data, data)
    if (!error.message.includes(FAILURE.message)) throw error
  },
  async resume(client, signal, label) {
    const cut = client.cutNextStream()
    const call = client.call('wait', { label }, { signal, progress: true })
    call.catch(() => {})
    await Promise.race([call, repeat(signal, async () => cut.resumed)])
    if (!cut.resumed) throw new Error('the client did not come back')
    await client.call('release', { label }, { signal })
    same((await call).text, 'released')
  },
  async cancellation(client, signal, label) {
    const seen = async (what: string) => (await client.call('seen', { label }, { signal })).text === what
    const cancelling = new AbortController()
    const call = client.call('wait', { label }, { signal: cancelling.signal })
    call.catch(() => {})
    await Promise.race([call, repeat(signal, () => seen('begun'))])
    cancelling.abort()
    await repeat(signal, () => seen('cancelled'))
  },
}

const same = (actual: unknown, wanted: unknown) => {
  if (!isDeepStrictEqual(actual, wanted)) throw new Error(`it was ${JSON.stringify(actual)}`)
}

/** Tries again until it is so, or the check is given up: a message may be sent before its listener is there. */
async function repeat(signal: AbortSignal, check: () => Promise<boolean>): Promise<void> {
  while (!(await check())) {
    signal.throwIfAborted()
    await new Promise(resolve => setTimeout(resolve, 25))
  }
}
