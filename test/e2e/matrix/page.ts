import { FEATURE_NAMES, type Revision, STATELESS, serverName, TRANSPORTS } from './combinations.ts'
import { COMBINATIONS, type Combination, cellOf, type Gaps, keyOf } from './results.ts'

const INTRO = `# Which client reaches which server

Written by \`test/e2e/eras-matrix.test.ts\`, which runs each client against each server through the program and fails
when a cell becomes better or worse. \`KEELSON_WRITE_MATRIX=1 npx vitest run test/e2e/eras-matrix.test.ts\` rewrites this
page. How keelson translates between the eras is in [eras.md](eras.md).

The clients use the official SDKs: \`@modelcontextprotocol/sdk\` (TypeScript 1) up to 2025-11-25,
\`@modelcontextprotocol/client\` (TypeScript 2) for 2026-07-28, and the Python (\`mcp\`) and Go SDKs where they are named. The
servers use the TypeScript SDKs, and the Python and Go SDKs where they are named. TypeScript 1 cannot be limited to an
older revision, so a thin wrapper around its transport changes the version in \`initialize\`. A client or server of a
revision also speaks the older ones with \`initialize\`, as SDKs of its time do. One of 2026-07-28 speaks nothing else,
except the Python 2 server, which speaks all revisions. Over HTTP, the Go server of 2026-07-28 responds to \`initialize\` and
then refuses all further requests, so its workload has \`--protocol stateless\`. The Go client of 2026-07-28 cannot read a
request for roots without \`params\`. Servers of 2026-07-28 may send that, and keelson passes it on unchanged.

Not in the matrix are FastMCP, which is built on the Python SDK and offers neither pages nor errors of a tool's own, and
Python and Go servers over HTTP+SSE, with \`--proxy-mode sse\` or limited to revisions before 2025-11-25.

- **yes**: the client saw the feature work.
- **no**: it did not; the number leads to the reason, mostly in the words of the SDK of the client.
- **–**: the feature does not exist, because the older of the two revisions does not have it. Resumption is a matter
  between the client and keelson: it exists for clients from 2025-03-26 to 2025-11-25 over streamable HTTP.
- **not tried**: version 1 of the Python SDK cannot cancel a call. Connections of the Python and Go SDKs cannot be cut from
  outside, so the test cannot see whether they resume. The Python servers over HTTP keep no events to resume from.

A client that speaks both HTTP transports uses the one of the workload. \`--proxy-mode sse\` makes that HTTP+SSE for a
stdio server. There are no servers of 2026-07-28 over HTTP+SSE, because that revision does not have it. keelson serves
HTTP+SSE itself in front of stdio servers and servers of streamable HTTP.

Clients of one server come one after the other, the newest with a session first. Cancellation is tried when all
clients have tried everything else: a stdio server that is shared may go on with a cancelled call, and until it has
responded nobody knows whether what it asks for belongs to that call or to the next client
([who gets what](bridge.md#who-gets-what)).
`

const TITLES = {
  'sessions → sessions': 'Sessions on both sides',
  'stateless → stateless': '2026-07-28 on both sides',
  'stateless → sessions': 'A client of 2026-07-28, a server with sessions',
  'sessions → stateless': 'A client with sessions, a server of 2026-07-28',
}

const eraOf = ({ revision }: { revision: Revision }) => (revision === STATELESS ? 'stateless' : 'sessions')

/** `docs/eras-matrix.md`. */
export function erasMatrix(gaps: Gaps): string {
  const tables = Map.groupBy(
    COMBINATIONS,
    ({ client, server }) => TITLES[`${eraOf(client)} → ${eraOf(server)}`],
  )
  const sections = Object.values(TITLES).map(
    title => `## ${title}\n\n${section(tables.get(title) ?? [], gaps)}`,
  )
  return [INTRO, ...sections].join('\n')
}

/** One table. Combinations whose cells are all the same share a column; where nothing works there is none. */
function section(combinations: readonly Combination[], gaps: Gaps): string {
  const nothing = (combination: Combination) => gaps[keyOf('everything', combination)]
  const reasons: string[] = []
  const cellsOf = (combination: Combination) =>
    FEATURE_NAMES.map(feature => {
      const found = cellOf(gaps, feature, combination)
      if (!found.startsWith('no: ')) return found === 'does not exist' ? '–' : found
      const reason = found.slice('no: '.length)
      if (!reasons.includes(reason)) reasons.push(reason)
      return `no (${reasons.indexOf(reason) + 1})`
    })
  const some = combinations.filter(combination => nothing(combination) === undefined)
  const columns = [...Map.groupBy(some, combination => cellsOf(combination).join('|'))]
  const letters = columns.map((_, index) => String.fromCharCode(65 + index))
  const rows = FEATURE_NAMES.map((feature, row) => [feature, ...columns.map(([key]) => key.split('|')[row])])
  const table = [['', ...letters], ['---', ...letters.map(() => '---')], ...rows]
  const legend = columns.map(([, members], index) => `- **${letters[index]}**: ${named(members)}\n`)
  const not = [...Map.groupBy(combinations, nothing)].flatMap(([reason, members]) =>
    reason === undefined ? [] : [`- ${named(members)}: ${reason}\n`],
  )
  return [
    ...(columns.length ? [table.map(cells => `| ${cells.join(' | ')} |\n`).join(''), legend.join('')] : []),
    ...(reasons.length ? [reasons.map((reason, index) => `${index + 1}. ${reason}\n`).join('')] : []),
    ...(not.length ? [`Where nothing works:\n\n${not.join('')}`] : []),
  ].join('\n')
}

/** Combinations in words: clients that reach the same servers together, and servers over the same transports. */
function named(combinations: readonly Combination[]): string {
  const byClient = Map.groupBy(combinations, ({ client }) => client.name)
  const serversOf = (members: readonly Combination[]) => {
    const byServer = Map.groupBy(members, ({ server }) => serverName(server))
    const transports = [...byServer].map(
      ([revision, same]) =>
        [revision, same.map(({ server }) => TRANSPORTS[server.transport]).join(', ')] as const,
    )
    return [...Map.groupBy(transports, ([, names]) => names)]
      .map(([names, same]) => `${same.map(([revision]) => revision).join(', ')} (${names})`)
      .join('; ')
  }
  const clients = [...byClient].map(([name, members]) => [name, serversOf(members)] as const)
  return [...Map.groupBy(clients, ([, servers]) => servers)]
    .map(([servers, same]) => `${same.map(([name]) => name).join(', ')} → ${servers}`)
    .join('. ')
}
