import type { PolicyJson, TypeAndId } from '@cedar-policy/cedar-wasm/web'
import { suggest } from '../../../src/lib/suggest.ts'
import { HINTS } from '../decider.ts'
import { ABOUT, ACTIONS } from './build-call.ts'
import { attributesRead, scopeEntities } from './expressions.ts'
import { findReferences } from './find-references.ts'
import { toMatcher } from './match-like.ts'
import type { CedarPolicies } from './read-cedar.ts'
import type { Place, Policy } from './read-policies.ts'
import { entitiesIn } from './uid.ts'
import { type ArgumentTypes, validatePolicy } from './validate-policy.ts'

/** A tool of a server, as a list shows it. */
export interface KnownTool {
  readonly name: string
  /** Names of its arguments; undefined where its schema does not say. */
  readonly arguments: readonly string[] | undefined
  /** What its schema says of their types. */
  readonly types?: ArgumentTypes
}

/** Something in a policy that is probably not meant. */
export interface Finding {
  readonly policy: string
  /** Of the part of the policy that it is about, where that is known, else of the policy. */
  readonly place: Place
  readonly problem: string
}

/** What is known of the server that the policies are for. */
export interface LintServer {
  readonly name: string
  readonly tools: readonly KnownTool[]
}

const TYPES = ['Client', 'Action', 'Tool', 'Prompt', 'Resource', 'MCP']
const ASKED: readonly string[] = Object.values(ACTIONS)
const LISTING = ['list_tools', 'list_prompts', 'list_resources']
const RESOURCE_ATTRIBUTES = ['name', 'uri', 'operation', 'feature', ...HINTS]

/** Finds what can never match, in policies that can be parsed. */
export function lintPolicies(read: CedarPolicies, server: LintServer | undefined): Finding[] {
  return read.policies.flatMap(policy => {
    const found = new Set([
      ...lintEntities(policy, read),
      ...lintScope(policy, server),
      ...lintAttributes(policy, read),
      ...(server ? lintTools(policy, server) : []),
    ])
    // Cedar says where it has read what it finds, but not in the form that the other findings are made of.
    const places = new Map([...found].map(problem => [problem, policy.place]))
    for (const { problem, offset } of found.size ? [] : validatePolicy(read, policy, typesOf(policy, server)))
      if (!places.has(problem)) places.set(problem, policy.placeAt(offset))
    return [...places].map(([problem, place]) => ({ policy: policy.id, place, problem }))
  })
}

/** The types of the arguments of the one tool that a policy is about. */
function typesOf({ json }: Policy, server: LintServer | undefined): ArgumentTypes | undefined {
  const [resource] = json.resource.op === '==' ? scopeEntities(json.resource) : []
  const tool = resource?.type === 'Tool' ? server?.tools.find(({ name }) => name === resource.id) : undefined
  return tool?.types
}

const isKnown = ({ surroundings }: CedarPolicies, uid: TypeAndId): boolean =>
  surroundings.entities.mentions(uid)

function* lintEntities({ json }: Policy, read: CedarPolicies): Generator<string> {
  const types = [...TYPES, read.surroundings.groupType]
  for (const uid of findReferences([json]).entities.values()) {
    if (isKnown(read, uid)) continue
    const { type, id } = uid
    if (!types.includes(type)) yield `nothing has the type ${type}${guess(type, types)}`
    else if (type === 'Action' && LISTING.includes(id)) {
      yield `nobody asks for the action "${id}": lists show what can be used with ${ASKED.join(', ')}`
    } else if (type === 'Action' && !ASKED.includes(id)) {
      yield `nobody asks for the action "${id}"${guess(id, ASKED)}`
    }
  }
}

const guess = (word: string, words: readonly string[]): string => {
  const near = suggest(word, words)
  return near ? `; did you mean ${near}?` : ''
}

/** Scopes whose parts exclude each other. */
function* lintScope({ json }: Policy, server: LintServer | undefined): Generator<string> {
  const types = scopeEntities(json.action).flatMap(({ id }) => ABOUT[id] ?? [])
  const [resource] = json.resource.op === '==' ? scopeEntities(json.resource) : []
  const is = 'entity_type' in json.resource ? json.resource.entity_type : resource?.type
  if (types.length && is !== undefined && TYPES.includes(is) && !types.includes(is)) {
    yield `it never matches: no action that it names is about a ${is}`
  }
  const principal = 'entity_type' in json.principal ? json.principal.entity_type : undefined
  if (principal !== undefined && principal !== 'Client') {
    yield 'it never matches: each principal is a Client'
  }
  for (const { type, id } of scopeEntities(json.resource)) {
    if (server && type === 'MCP' && id !== server.name) {
      yield `it never matches: the workload is "${server.name}", not "${id}"`
    }
  }
}

const PREFIXES: Readonly<Record<string, readonly string[]>> = {
  principal: ['claim_', 'claimset_'],
  resource: ['arg_'],
  context: ['claim_', 'claimset_', 'arg_'],
}

function* lintAttributes({ json }: Policy, read: CedarPolicies): Generator<string> {
  for (const { variable, attribute } of attributesRead(json.conditions)) {
    const prefixes = PREFIXES[variable] ?? []
    const isOurs = prefixes.some(prefix => attribute.startsWith(prefix))
    const isStandard = variable === 'resource' && RESOURCE_ATTRIBUTES.includes(attribute)
    if (isOurs || isStandard || read.surroundings.entities.hasAttribute(attribute)) continue
    const words = [
      ...prefixes.map(prefix => `${prefix}${attribute}`).slice(0, 1),
      ...(variable === 'resource' ? RESOURCE_ATTRIBUTES : []),
    ]
    yield `no ${variable} has the attribute "${attribute}"; did you mean ${suggest(attribute, words) ?? words[0]}?`
  }
}

/** Names and arguments that the tools of the server do not have. */
function* lintTools({ json }: Policy, { tools }: LintServer): Generator<string> {
  const names = tools.map(({ name }) => name)
  for (const { type, id } of namedEntities(json)) {
    if (type === 'Tool' && !names.includes(id)) yield `the server shows no tool "${id}"${guess(id, names)}`
  }
  for (const test of findReferences([json]).nameTests ?? []) {
    if (!isAboutTools(json)) continue
    if (!names.some(toMatcher(test)))
      yield 'a comparison with resource.name fits no tool that the server shows'
  }
  const [resource] = json.resource.op === '==' ? scopeEntities(json.resource) : []
  const args = tools.find(({ name }) => resource?.type === 'Tool' && resource.id === name)?.arguments
  for (const { attribute } of args ? attributesRead(json.conditions) : []) {
    const argument = /^arg_(.+?)(?:_present)?$/.exec(attribute)?.[1]
    if (argument === undefined || args?.includes(argument) || args?.includes(attribute.slice(4))) continue
    yield `the tool "${resource?.id}" has no argument "${argument}"${guess(argument, args ?? [])}`
  }
}

const isAboutTools = ({ action }: PolicyJson): boolean => {
  const actions = scopeEntities(action).map(({ id }) => id)
  return actions.length > 0 && actions.every(id => id === 'call_tool')
}

const namedEntities = ({ resource, conditions }: PolicyJson): TypeAndId[] => [
  ...scopeEntities(resource),
  ...entitiesIn(conditions),
]
