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
  const shared = `${prefix}:shared`
  return {
    shared: () => shared,
    user: caller => `${prefix}:user:${userOf(caller)}`,
    tool: name => `${prefix}:tool:${plain(name)}`,
    userTool: (name, caller) => `${prefix}:user-tool:${plain(name)}:${userOf(caller)}`,
  }
}

/** Without a login all callers are one. */
export function userOf(caller: Caller | undefined): string {
  if (!caller) return 'local'
  const user =
    users.get(caller) ?? hash('sha256', JSON.stringify([caller.issuer ?? null, caller.subject]), 'base64url')
  users.set(caller, user)
  return user
}

/** A caller is the same object as long as their token is cached. */
const users = new WeakMap<Caller, string>()

/** As JSON first: `encodeURIComponent` fails for halves of surrogate pairs, which JSON escapes. */
const plain = (text: string): string => encodeURIComponent(JSON.stringify(text).slice(1, -1))
