import type { PolicyJson, TypeAndId } from '@cedar-policy/cedar-wasm/web'
import { isObject } from '../../../src/lib/is-object.ts'
import {
  isEntityLiteral,
  literalOf,
  NAMES,
  nameRead,
  scopeEntities,
  type Variable,
  variableOf,
} from './expressions.ts'
import { entitiesIn, uidKey } from './uid.ts'

/** Attributes that conditions read of a variable; `all` where it is used in a way that could read any. */
export type Read = ReadonlySet<string> | 'all'

/** How conditions compare the name of a resource with texts that they hold. */
export type NameTest = { readonly like: readonly unknown[] } | { readonly equals: string }

/** What a set of policies can look at. What is not in it cannot change a decision. */
export interface References {
  readonly principal: Read
  readonly resource: Read
  readonly context: Read
  /** Entities that the policies name, by `uidKey`. */
  readonly entities: ReadonlyMap<string, TypeAndId>
  /** The tests of `resource.name` and `resource.uri`, where nothing else is done with these; else undefined. */
  readonly nameTests: readonly NameTest[] | undefined
}

/** Walks through policies. An expression that it does not know counts as reading everything. */
export function findReferences(policies: readonly PolicyJson[]): References {
  const reads = createReads()
  for (const { principal, action, resource, conditions } of policies) {
    for (const scope of [principal, action, resource]) scopeEntities(scope).forEach(reads.entity)
    for (const { body } of conditions) walk(body, reads)
  }
  return reads.found()
}

type Reads = ReturnType<typeof createReads>

function createReads() {
  const read: Record<Variable, Set<string> | 'all'> = {
    principal: new Set(),
    action: new Set(),
    resource: new Set(),
    context: new Set(),
  }
  const entities = new Map<string, TypeAndId>()
  const nameTests: NameTest[] = []
  let onlyTestsNames = true

  return {
    entity(uid: TypeAndId): void {
      entities.set(uidKey(uid), uid)
    },
    attribute(variable: Variable, name: string): void {
      const set = read[variable]
      if (set !== 'all') set.add(name)
    },
    all(variable: Variable): void {
      read[variable] = 'all'
      if (variable === 'resource') onlyTestsNames = false
    },
    test(found: NameTest): void {
      nameTests.push(found)
    },
    /** Something else is done with the name than to test it. */
    name(): void {
      onlyTestsNames = false
    },
    found: (): References => ({
      principal: read.principal,
      resource: read.resource,
      context: read.context,
      entities,
      nameTests: onlyTestsNames ? nameTests : undefined,
    }),
  }
}

const readEverything = (reads: Reads): void => {
  for (const variable of ['principal', 'action', 'resource', 'context'] as const) reads.all(variable)
}

function walk(node: unknown, reads: Reads): void {
  const [entry, ...others] = isObject(node) ? Object.entries(node) : []
  const variable = variableOf(node)
  if (!entry || others.length) readEverything(reads)
  else if (variable) reads.all(variable)
  else if (entry[0] === 'Value') for (const uid of entitiesIn(entry[1])) reads.entity(uid)
  else if (Array.isArray(entry[1]))
    for (const item of entry[1]) walk(item, reads) // a set, or a function
  else if (!isObject(entry[1])) readEverything(reads)
  else if (entry[0] === 'Record') for (const member of Object.values(entry[1])) walk(member, reads)
  else walkOperation(entry[0], entry[1], reads)
}

function walkOperation(kind: string, body: Readonly<Record<string, unknown>>, reads: Reads): void {
  const { left, right, attr } = body
  switch (kind) {
    case '.':
      if (nameRead({ '.': body })) reads.name()
      readAttribute(left, attr, reads)
      break
    case 'has':
      readAttribute(left, Array.isArray(attr) ? attr[0] : attr, reads)
      break
    case 'like':
      if (Array.isArray(body.pattern) && testName(left, { like: body.pattern }, reads)) break
      walk(left, reads)
      break
    case '==':
    case '!=':
    case 'in':
      compare(left, right, reads)
      break
    case 'is':
      if (body.in !== undefined) compare(left, body.in, reads)
      else if (!variableOf(left)) walk(left, reads)
      break
    default:
      for (const operand of Object.values(body)) walk(operand, reads)
  }
}

function readAttribute(base: unknown, name: unknown, reads: Reads): void {
  const variable = variableOf(base)
  if (typeof name !== 'string') readEverything(reads)
  else if (variable) reads.attribute(variable, name)
  else {
    // The base can be any entity, also the principal or the resource by another way.
    reads.attribute('principal', name)
    reads.attribute('resource', name)
    if (NAMES.has(name)) reads.name()
    walk(base, reads)
  }
}

/** Comparing a variable with an entity that is written there reads no attribute. */
function compare(left: unknown, right: unknown, reads: Reads): void {
  for (const [one, other] of [
    [left, right],
    [right, left],
  ]) {
    if (variableOf(one) && isEntityLiteral(other)) {
      walk(other, reads)
      return
    }
    const text = literalOf(other)
    if (typeof text === 'string' && testName(one, { equals: text }, reads)) return
  }
  walk(left, reads)
  walk(right, reads)
}

function testName(node: unknown, test: NameTest, reads: Reads): boolean {
  const name = nameRead(node)
  if (name === undefined) return false
  reads.attribute('resource', name)
  reads.test(test)
  return true
}
