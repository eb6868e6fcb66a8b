import { join } from 'node:path'
import * as t from 'typanion'
import { isFailure } from '../../src/errors.ts'
import { readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { withLock } from '../../src/lib/file-lock.ts'
import type { Log } from '../../src/log.ts'
import { parseDocument } from '../../src/parse-document.ts'
import type { Paths } from '../../src/paths.ts'
import { failures } from './failures.ts'

/** What a consent is about: one variable of one server, as one registry lists it. */
export interface Wanted {
  /** The URL or path of the registry. */
  readonly registry: string
  /** The whole name of the server, with the namespace of its publisher. */
  readonly server: string
  readonly variable: string
}

/** A yes of the user: this server gets this secret as this variable. */
export interface Consent extends Wanted {
  readonly secret: string
}

/**
 * Remembers which servers of registries the user gives stored secrets to. Only decisions of the user are
 * stored here.
 */
export interface Consents {
  /** Name of the secret that the user gives; undefined when nothing was agreed. */
  find(wanted: Wanted): Promise<string | undefined>
  /** All that was agreed for a server. */
  of(origin: Omit<Wanted, 'variable'>): Promise<readonly Consent[]>
  /** Takes the place of an earlier consent for the same variable. */
  add(consent: Consent): Promise<void>
  /** Takes back every consent to give this secret. */
  withdraw(secret: string): Promise<void>
}

const LOCK_MS = 5_000

const schema = t.isObject(
  {
    consents: t.isArray(
      t.isObject({
        registry: t.isString(),
        server: t.isString(),
        variable: t.isString(),
        secret: t.isString(),
      }),
    ),
  },
  { extra: t.isUnknown() },
)

/** Consents in `secret-consents.json` of the state folder. What cannot be read there counts as no consent. */
export function createConsents({ paths, log }: { paths: Pick<Paths, 'state'>; log: Log }): Consents {
  const path = join(paths.state, 'secret-consents.json')

  async function read(): Promise<readonly Consent[]> {
    const text = await readFileIfThere(path)
    if (text === undefined) return []
    try {
      return (parseDocument(text, path, schema) as { consents: Consent[] }).consents
    } catch (error) {
      if (!isFailure(error)) throw error
      log.warn(`${error.message} Secrets are asked for again.`)
      return []
    }
  }

  const change = (next: (consents: readonly Consent[]) => readonly Consent[]): Promise<void> =>
    withLock(
      `${path}.lock`,
      async () => {
        const before = await read()
        const consents = next(before)
        if (consents.length === before.length && consents.every((one, i) => one === before[i])) return
        await writeFileAtomic(path, `${JSON.stringify({ consents }, undefined, 2)}\n`)
      },
      { timeoutMs: LOCK_MS, onTimeout: () => failures.secret_consents_busy({ path }) },
    )

  return {
    find: async wanted => (await read()).find(consent => isAbout(consent, wanted))?.secret,
    of: async ({ registry, server }) =>
      (await read()).filter(one => one.registry === registry && one.server === server),
    add: ({ registry, server, variable, secret }) =>
      change(all => [
        ...all.filter(one => !isAbout(one, { registry, server, variable })),
        { registry, server, variable, secret },
      ]),
    withdraw: secret => change(all => all.filter(one => one.secret !== secret)),
  }
}

const isAbout = (consent: Consent, { registry, server, variable }: Wanted): boolean =>
  consent.registry === registry && consent.server === server && consent.variable === variable
