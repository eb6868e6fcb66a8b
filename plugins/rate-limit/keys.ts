import { hash } from 'node:crypto'
import type { Caller } from '../../src/contracts/caller-auth.ts'

/** Names the buckets of a workload. */
export interface KeyMaker {
  shared(): string
  user(caller: Caller | undefined): string
  tool(name: string): string
  userTool(name: string, caller: Caller | undefined): string
}

/**
 * Makes keys like `keelson:limit:{notes}:user-tool:delete:…`. The braces keep all keys of a workload together where
 * Redis is divided by keys. No part has a colon or a brace of its own, so that none can look like another key; users are
 * digests of issuer and subject.
 */
export function createKeys({ name, namespace }: { name: string; namespace?: string | undefined }): KeyMaker {
  const workload = namespace ? `${plain(namespace)}:${plain(name)}` : plain(name)
  const prefix = `keelson:limit:{${workload}}`
  return {
    shared: () => `${prefix}:shared`,
    user: caller => `${prefix}:user:${userOf(caller)}`,
    tool: name => `${prefix}:tool:${plain(name)}`,
    userTool: (name, caller) => `${prefix}:user-tool:${plain(name)}:${userOf(caller)}`,
  }
}

/** Without a login all callers are one. */
export const userOf = (caller: Caller | undefined): string =>
  caller ? hash('sha256', JSON.stringify([caller.issuer ?? null, caller.subject]), 'base64url') : 'local'

/** As JSON first: `encodeURIComponent` fails for halves of surrogate pairs, which JSON escapes. */
const plain = (text: string): string => encodeURIComponent(JSON.stringify(text).slice(1, -1))
