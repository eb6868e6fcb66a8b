import { memberValue } from '../../../../src/lib/raw-json.ts'
import { param, paramText, type Request, type Response } from '../../../../src/net/rpc-message.ts'
import { canTake } from '../clients/choose-client.ts'
import type { Session } from '../clients/client-sessions.ts'
import type { AskedInputs } from './asked-inputs.ts'

/** Asks one client for all that a server wants in one round. */
export interface InputRound {
  /**
   * Asks for the inputs. `done` gets the results by the server's keys, `failed` a text that says why there are none;
   * one of them is called once, unless the round is withdrawn before.
   */
  ask(
    inputs: ReadonlyMap<string, Request>,
    outcome: { done: (results: ReadonlyMap<string, string>) => void; failed: (problem: string) => void },
  ): void
  /** Cancels at the client what it has not responded to. */
  withdraw(): void
}

/** @param options.send sends to the client; false when there is no stream to it */
export function createInputRound({
  session,
  asked,
  send,
}: {
  session: Session
  asked: AskedInputs
  send: (text: string) => boolean
}): InputRound {
  /** The ids of what the client has not responded to. */
  const open = new Set<string>()

  function withdraw(): void {
    for (const id of open) {
      asked.remove(id)
      send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`)
    }
    open.clear()
  }

  return {
    ask(inputs, { done, failed }) {
      const results = new Map<string, string>()

      function take(key: string, input: Request, { text, result, error }: Response): void {
        open.delete(input.idText)
        if (result) {
          results.set(key, text.slice(result.start, result.end))
          if (open.size === 0) done(results)
          return
        }
        withdraw()
        const said = memberValue(text.slice(error?.start, error?.end), 'message')
        failed(`The client refused ${input.method}: ${String(said).slice(0, 300)}`)
      }

      for (const { method, ...input } of inputs.values()) {
        if (canTake(session, { method, ...input })) continue
        return void failed(`The server needs ${method}, which the client has not declared`)
      }
      for (const [key, input] of inputs) {
        open.add(input.idText)
        asked.add(input, { session, take: response => take(key, input, response) })
        if (send(input.text)) continue
        withdraw()
        return void failed(
          `The server needs ${input.method}, and the client has no event stream to get that on`,
        )
      }
    },
    withdraw,
  }
}

/** URLs that the user of a client has agreed to open, with the result that says so. */
export interface OpenedUrls {
  /** The result for an input that asks for such a URL again. */
  find(input: Request): string | undefined
  note(input: Request, resultText: string): void
  /** The notifications that the user is done at all of them (MCP 2025-11-25, elicitation). */
  completions(): string[]
}

export function createOpenedUrls(): OpenedUrls {
  const byUrl = new Map<unknown, { resultText: string; elicitation: string | undefined }>()
  return {
    find: input => byUrl.get(param(input, 'url'))?.resultText,
    note(input, resultText) {
      const url = param(input, 'url')
      if (typeof url !== 'string' || memberValue(resultText, 'action') !== 'accept') return
      byUrl.set(url, { resultText, elicitation: paramText(input, 'elicitationId') })
    },
    completions: () =>
      [...byUrl.values()].map(
        ({ elicitation = '""' }) =>
          `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":${elicitation}}}`,
      ),
  }
}
