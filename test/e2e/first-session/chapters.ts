/** A command of the session, and what the user types once a text has appeared. */
interface Typed {
  readonly line: string
  readonly answers?: readonly (readonly [seen: string, typed: string])[]
  /** How it ends; without it 0. */
  readonly code?: number
}

export interface Chapter {
  readonly title: string
  readonly text: string
  readonly commands: readonly Typed[]
}

const EVERYTHING = 'npx://@modelcontextprotocol/server-everything@2026.8.31'
const BRAVE = 'npx://@brave/brave-search-mcp-server@2.1.4'
const ENTER = '\r'

/** What a new user does, from the first command to the last. The page `docs/guides/first-session.md` shows it. */
export const CHAPTERS: readonly Chapter[] = [
  {
    title: 'Run a server and call a tool',
    text: 'The URL is where clients connect. `--args` takes the arguments of the tool as JSON.',
    commands: [
      { line: `keelson run ${EVERYTHING} --name demo` },
      { line: 'keelson list' },
      { line: 'keelson mcp inspect echo --server demo' },
      { line: `keelson mcp call echo --server demo --args '{"message": "hello"}'` },
    ],
  },
  {
    title: 'Call it from a client',
    text: 'The [MCP Inspector](https://github.com/modelcontextprotocol/inspector) reads the file that `keelson list` writes.',
    commands: [
      { line: 'keelson list --format mcpservers > mcp.json' },
      {
        line:
          'npx -y @modelcontextprotocol/inspector@0.22.0 --cli --config mcp.json --server demo ' +
          '--method tools/call --tool-name echo --tool-arg message=hello',
      },
    ],
  },
  {
    title: 'A server that does not start',
    text: 'The error shows what the server said, and what to add to the command.',
    commands: [{ line: `keelson run ${BRAVE} --name search`, code: 1 }],
  },
  {
    title: 'Give it a secret',
    text:
      'Enter takes what a question proposes. The value is typed where it is asked for; it is not shown, and is in no file ' +
      'in clear.',
    commands: [
      {
        line: 'keelson secret setup',
        answers: [
          ['[encrypted]: ', ENTER],
          ['[Y/n] ', ENTER],
        ],
      },
      {
        line: 'keelson secret set BRAVE_KEY',
        answers: [['Value of BRAVE_KEY: ', `not-a-key${ENTER}`]],
      },
      { line: `keelson run ${BRAVE} --name search --secret BRAVE_KEY,target=BRAVE_API_KEY` },
      { line: 'keelson status search' },
    ],
  },
  {
    title: 'A mistyped name',
    text: 'Nothing is guessed: the command fails, and says which name is near.',
    commands: [
      { line: 'keelson stop serach', code: 1 },
      { line: 'keelson stop search' },
      { line: 'keelson list' },
    ],
  },
  {
    title: 'Clean up',
    text: '`rm` deletes workloads. Secrets stay until you delete them.',
    commands: [{ line: 'keelson rm demo search' }, { line: 'keelson secret delete BRAVE_KEY' }],
  },
]
