import type { Caller } from '../../src/contracts/caller-auth.ts'

/** What a webhook is told of who calls; null where nobody had to log in. */
export function toPrincipal(caller: Caller | undefined): object | null {
  if (!caller) return null
  const { subject, claims, groups, actors } = caller
  const text = (claim: string) => (typeof claims[claim] === 'string' ? { [claim]: claims[claim] } : {})
  return {
    sub: subject,
    ...text('name'),
    ...text('email'),
    ...(groups?.length ? { groups } : {}),
    claims: Object.fromEntries(Object.entries(claims).filter(([name, value]) => !isCredential(name, value))),
    ...(actors?.length
      ? {
          delegation: {
            chain: actors.map(({ issuer, subject: sub }) => ({ ...(issuer ? { iss: issuer } : {}), sub })),
          },
        }
      : {}),
  }
}

/** The beginning of a JWT: `{"` in Base64. */
const JWT = /^eyJ[\w-]*\./

/** Whether a claim holds a token, or the session at an authorization server of ToolHive's kind (`tsid`). */
const isCredential = (name: string, value: unknown): boolean =>
  name === 'tsid' || /token$/i.test(name) || (typeof value === 'string' && JWT.test(value))
