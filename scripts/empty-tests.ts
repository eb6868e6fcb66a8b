import { globSync, readFileSync } from 'node:fs'
import { parseAst } from 'vitest/node'

/** A node of the syntax tree (ESTree), as far as it is looked at here. */
interface Node {
  readonly type: string
  readonly start: number
  readonly [member: string]: unknown
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string'
const isFunction = ({ type }: Node) => /Function/.test(type)

/** The file that may skip tests, because it records the reason. */
const MAY_SKIP = 'test/support/left-out.ts'

/**
 * Tests that may pass without having checked anything: bodies without an assertion, bodies that return
 * early, and skips that give no reason. `files` gives the text of each file by its path.
 */
export function findEmptyTests(files: Readonly<Record<string, string>> = readTests()): string[] {
  const trees = Object.entries(files).map(([path, text]) => ({
    path,
    text,
    tree: parseAst(text, { lang: 'ts' }) as unknown as Node,
  }))
  const asserting = findAsserting(trees.map(({ tree }) => tree))
  return trees.flatMap(({ path, text, tree }) => {
    const place = ({ start }: Node) => `${path}:${text.slice(0, start).split('\n').length}`
    const found: string[] = []
    for (const node of nodesOf(tree)) {
      if (path !== MAY_SKIP && isSkip(node)) found.push(`${place(node)} skips without a recorded reason`)
      const body = testBody(node)
      if (!body) continue
      if (!namesOf(body).some(name => asserting.has(name))) found.push(`${place(node)} asserts nothing`)
      for (const early of earlyReturns(body)) found.push(`${place(early)} returns early`)
    }
    return found
  })
}

const readTests = () =>
  Object.fromEntries(globSync('test/**/*.ts').map(path => [path, readFileSync(path, 'utf8')]))

const childrenOf = (node: Node): Node[] =>
  Object.values(node).flatMap(value =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  )

/** A node and all below it, without those below children that `enters` refuses. */
function nodesOf(node: Node, enters: (child: Node) => boolean = () => true, found: Node[] = []): Node[] {
  found.push(node)
  for (const child of childrenOf(node)) if (enters(child)) nodesOf(child, enters, found)
  return found
}

/** Names that a piece of code mentions. */
const namesOf = (node: Node): string[] =>
  nodesOf(node).flatMap(({ type, name }) => (type === 'Identifier' ? [String(name)] : []))

/** Names of functions that assert: `expect`, `assert…`, and those that mention one of these. */
function findAsserting(trees: readonly Node[]): Set<string> {
  const functions = trees.flatMap(tree =>
    nodesOf(tree).flatMap(node => {
      const named = (node.id ?? node.key) as Node | undefined
      const code = isFunction(node) ? node : ((node.init ?? node.value) as Node | undefined)
      return named?.type === 'Identifier' && isNode(code) && isFunction(code)
        ? [{ name: String(named.name), mentions: namesOf(code) }]
        : []
    }),
  )
  const asserting = new Set(['expect', 'assert'])
  for (let before = 0; before < asserting.size; ) {
    before = asserting.size
    for (const { name, mentions } of functions)
      if (mentions.some(mention => asserting.has(mention))) asserting.add(name)
  }
  return asserting
}

/** The function that `test(…)`, `test.each(…)(…)` and the like are given. */
function testBody(node: Node): Node | undefined {
  if (node.type !== 'CallExpression' || rootOf(node.callee as Node) !== 'test') return undefined
  const body = (node.arguments as Node[]).findLast(isFunction)
  return (node.arguments as Node[]).length > 1 ? body : undefined
}

function rootOf(node: Node): string {
  const inner = node.object ?? node.callee
  return isNode(inner) ? rootOf(inner) : String(node.name)
}

function isSkip({ type, callee }: Node): boolean {
  if (type !== 'CallExpression' || !isNode(callee)) return false
  const member = callee.type === 'MemberExpression' ? (callee.property as Node).name : ''
  const root = rootOf(callee)
  return /^(skip|skipIf|runIf|todo)$/.test(String(member)) && /^(test|describe|context|it)$/.test(root)
}

function earlyReturns(body: Node): Node[] {
  const own = nodesOf(body.body as Node, child => !isFunction(child))
  const last = ((body.body as Node).body as Node[] | undefined)?.at(-1)
  return own.filter(node => node.type === 'ReturnStatement' && node !== last)
}
