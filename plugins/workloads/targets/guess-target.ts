/** What people type who mean something else than an image, and what they should type. */
const MEANT: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/^(?:npx|bunx|npm exec) (?:-y |--yes |-- )*(\S+)/, ([, name]) => `npx://${name}`],
  [/^(?:uvx|pipx run) (\S+)/, ([, name]) => `uvx://${name}`],
  [/^(?:npm|bunx?|pnpm|yarn|node):(?:\/\/)?(.+)/, ([, name]) => `npx://${name}`],
  [/^(?:uv|pypi|pip|pipx|python):(?:\/\/)?(.+)/, ([, name]) => `uvx://${name}`],
  [/^(npx|uvx|go):\/?(?!\/)(.+)/, ([, scheme, name]) => `${scheme}://${name}`],
  [/^golang:\/\/(.+)/, ([, name]) => `go://${name}`],
  [/^(?:docker|oci|image|container|podman):\/\/(.+)/, ([, image = '']) => image],
  [/^(https?):\/?(?!\/)(.+)/, ([, scheme, rest]) => `${scheme}://${rest}`],
  [/^(?:localhost|127\.0\.0\.1)(?::\d+)?(?:\/.*)?$/, ([all]) => `http://${all}`],
  [/^@[^/\s]+\/\S+$/, ([all]) => `npx://${all}`],
]

const FILE = /^(?:[.~]{0,2}[/\\]|[A-Za-z]:[/\\])|\.(?:js|mjs|cjs|ts|py|sh|go|jar|exe)$/

/** The hint for a target that cannot be what its text says; undefined where nothing else comes to mind. */
export function guessTarget(argument: string): string | undefined {
  for (const [form, toTarget] of MEANT) {
    const match = form.exec(argument)
    if (match) return `Did you mean \`keelson run ${toTarget(match)}\`?`
  }
  if (!FILE.test(argument)) return undefined
  return 'A file cannot be run by itself. Build an image of it, or run a Go program in a folder with `keelson run go://./FOLDER`.'
}
