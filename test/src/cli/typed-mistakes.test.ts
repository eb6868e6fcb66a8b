import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { createApp } from '../../../src/app.ts'
import { splitGlobals } from '../../../src/cli/argv.ts'
import { printFailure } from '../../../src/cli/print-failure.ts'
import { runCli } from '../../../src/cli/run-cli.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'

// What a newcomer mistypes, in a home without workloads on a machine without engines: each response is short, names what
// is wrong and what to do. 2 is the exit code for a wrong value or command, 1 for what is not there.

let home = ''
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'keelson-typed-'))
})
afterAll(() => rm(home, { recursive: true, force: true }))

/** The response to a line, as the program gives it. */
async function typed(line: string | readonly string[]): Promise<{ code: number; said: string }> {
  const [stdout, stderr, stdin] = [new PassThrough(), new PassThrough(), new PassThrough()]
  let said = ''
  const hear = (text: unknown) => {
    said += text
  }
  for (const stream of [stdout, stderr]) stream.on('data', hear)
  stdin.end()
  const env = { HOME: home, PATH: dirname(process.execPath) }
  const log = createLog({ write: hear, human: true, debug: false })
  const app = createApp({ paths: findPaths(env), log, env, entries: builtins })
  let code: number
  try {
    const words = typeof line === 'string' ? line.split(' ') : line
    const { globals, rest: argv } = splitGlobals(words)
    const signal = new AbortController().signal
    code = await runCli({
      app,
      argv,
      globals,
      streams: { stdin, stdout, stderr, out: stdout } as never,
      signal,
    })
  } catch (error) {
    code = printFailure(error, stderr, { debug: false })
  }
  await new Promise(setImmediate)
  return { code, said }
}

const NO_WORKLOAD = 'There is no workload "nosuch".\n`keelson list --all` shows'
const WANTED = 'of stdio, sse, streamable-http'

test.each([
  ['rum', 2, 'There is no command "rum".\nDid you mean `keelson run`?'],
  ['lst', 2, 'Did you mean `keelson list`?'],
  ['--verison', 2, 'There is no command "--verison".\n`keelson --help` lists'],
  ['mcp lsit', 2, 'Did you mean `keelson mcp list`?'],
  ['config nosuch', 2, 'There is no command "config nosuch".'],
  ['supervisor restart', 2, '`keelson supervisor stop` ends it; the next `keelson run`'],
  ['run', 2, '`run` needs to know what to run.\nName a package, an image or a URL'],
  ['run --nmae x img', 2, 'There is no flag --nmae here.\nDid you mean --name?'],
  ['run -z img', 2, 'There is no flag -z here.\nArguments of the server itself go after `--`'],
  ['run --name', 2, '--name needs a value (NAME).'],
  ['run one two', 2, 'arguments of the server go after `--`'],
  ['run --transport http img', 2, WANTED],
  ['run --transport=studio img', 2, 'Did you mean stdio?'],
  ['run --proxy-mode websocket img', 2, '--proxy-mode takes one of streamable-http, sse'],
  ['run --protocol new img', 2, '--protocol takes one of auto, legacy, stateless'],
  ['run --image-verification maybe img', 2, 'takes one of warn, enabled, disabled'],
  ['run --proxy-port abc img', 2, '--proxy-port takes a whole number from 1 to 65535, not "abc".'],
  ['run --proxy-port 70000 img', 2, 'from 1 to 65535, not "70000".'],
  ['run --target-port -1 img', 2, '--target-port takes a whole number'],
  ['run --memory lots img', 2, '--memory takes a size such as 512m or 2g, not "lots".'],
  ['run --cpus many img', 2, '--cpus takes a number of cores such as 0.5 or 2'],
  ['run --session-ttl soon img', 2, '--session-ttl takes a duration such as 30s, 5m or 2h'],
  ['run --rate-limit fast img', 2, '--rate-limit takes calls and a duration such as 100/1m'],
  ['run --tools-read-only=perhaps img', 2, 'takes true or false, not "perhaps".'],
  ['run -e =x img', 2, '--env takes KEY=VALUE'],
  ['run -e NOVALUE img', 2, '--env takes KEY=VALUE, not "NOVALUE".'],
  ['run --env-file /nosuch img', 1, 'The --env-file /nosuch does not exist.'],
  ['run --env-file-dir /nosuch img', 1, 'The --env-file-dir /nosuch does not exist.'],
  ['run -v /nosuch:/x img', 1, 'The path /nosuch, which --volume'],
  ['run -v relative img', 2, 'It is written HOST:CONTAINER or HOST:CONTAINER:ro.'],
  ['run -p 99999 img', 2, '--publish takes HOST:CONTAINER or CONTAINER'],
  ['run -l =x img', 2, '--label takes KEY=VALUE, not "=x".'],
  ['run --permission-profile nosuch img', 2, 'neither none nor network, and there is no such file.'],
  ['run --runtime dokcer img', 2, 'There is no runtime "dokcer"'],
  ['run --group nosuch img', 1, 'There is no group "nosuch".\n`keelson group list`'],
  ['run --name a/b img', 2, '"a/b" is not a name for a workload.\nUse 1 to 100 letters'],
  ['run --host 300.1.1.1 img', 2, '--host "300.1.1.1" is neither an IPv4 address nor a name'],
  ['run --host ::1 img', 2, 'not the IPv6 address "::1".'],
  ['run --secret TOKEN img', 2, 'Write NAME,target=VARIABLE'],
  ['run --secret TOKEN,target=X img', 1, 'Choose one with `keelson secret setup`'],
  ['run --from-config /nosuch.json', 1, 'The --from-config file /nosuch.json does not exist.'],
  ['run --from-config x.json extra', 2, 'not with the target extra.'],
  ['run npx:/missing', 2, 'cannot be run: it is not an image reference, package or URL.'],
  ['run npx://', 2, '"npx://" names no package.'],
  ['run ftp://example.com', 2, 'it must begin with http:// or https://.'],
  ['run https://user:pw@example.com/mcp', 2, 'a user name or password, which would be stored'],
  ['run https://example.com/mcp -e A=1', 2, 'that server is run by somebody else.\nLeave it out.'],
  ['run https://example.com/mcp --transport stdio', 2, 'a remote server speaks sse or streamable-http.'],
  ['run img:tag:tag', 2, 'Give an image, a package (npx://, uvx://, go://), a URL'],
  ['run img', 1, 'docker: there is no program "docker" in the PATH.'],
  ['list --format xml', 2, '--format takes one of text, json, mcpservers'],
  ['list extra', 2, 'There is one argument too many: "extra".\nUsage: keelson list'],
  ['status', 2, '`keelson status` needs NAME.'],
  ['status nosuch', 1, NO_WORKLOAD],
  ['stop', 2, 'Which workloads?\nGive names, or --all, or --group.'],
  ['stop nosuch', 1, NO_WORKLOAD],
  ['stop --all x', 2, 'Names, --all and --group exclude each other.'],
  ['rm nosuch', 1, NO_WORKLOAD],
  ['logs', 2, '`keelson logs` needs NAME.'],
  ['logs nosuch', 1, NO_WORKLOAD],
  ['logs nosuch --tail many', 2, '--tail takes a whole number from 0, not "many".'],
  ['logs nosuch --since yesterday', 2, '--since takes a duration such as 30s'],
  ['edit nosuch -e A=1', 1, NO_WORKLOAD],
  ['rename nosuch', 2, '`keelson rename` needs NAME NEW.'],
  ['clone nosuch other', 1, NO_WORKLOAD],
  ['stats nosuch', 1, NO_WORKLOAD],
  ['mcp call', 2, '`keelson mcp call` needs TOOL.'],
  ['mcp call tool', 2, '--server is missing.\nGive it a URL or the name of a workload.'],
  ['mcp list --server nosuch', 1, NO_WORKLOAD],
  ['mcp list --server http://127.0.0.1:9/mcp', 1, 'no client may use its port'],
  ['mcp list --timeout 0 --server x', 2, '--timeout must be more than 0.'],
  ['mcp call tool --server x --args nojson', 2, 'For example: \'{"name":"value"}\''],
  ['secret get NOPE', 1, 'No place for secrets has been chosen yet.'],
  ['secret provider nosuch', 2, 'the providers are encrypted, environment, 1password.'],
  ['group create a/b', 2, '"a/b" is not a name for a group.'],
  ['client register nosuch', 1, '"nosuch" is not a client that keelson knows.'],
  ['registry info nosuch', 1, 'Look for it with `keelson search WORD`.'],
  ['config set-registry ftp://x', 2, 'Give an https URL, or the path of a file'],
  ['build img', 2, 'It begins with npx://, uvx:// or go://.'],
  ['skill info nosuch', 1, '`keelson skill list` shows what is installed.'],
  ['plugin remove nosuch', 1, '`keelson plugin list` shows the plugins'],
  ['proxy nosuch', 2, 'Name the MCP server with --target-uri'],
  ['completion tcsh', 2, 'There is one for bash, zsh, fish, powershell.'],
  ['container ls', 2, 'Omit the word: `keelson list`'],
  ['thv run x', 2, 'Omit the word: `keelson list`'],
  ['system prune', 2, '`keelson prune` to delete what nothing uses.'],
  ['import x.json', 1, 'x.json does not exist'],
  ['import nosuchtool', 1, 'What is imported is `toolhive`, `docker-mcp`, or the path'],
  ['import toolhive', 1, 'There are no servers of ToolHive in'],
  ['endpoint create', 2, '`keelson endpoint create` needs NAME.'],
  [
    'endpoint create x',
    2,
    'Which servers are behind the endpoint?\nGive either --group NAME or --server NAME',
  ],
  ['endpoint create x --server nosuch', 1, NO_WORKLOAD],
  ['endpoint create x --servers a', 2, 'Did you mean --server?'],
  ['endpoint add x', 2, '`keelson endpoint edit NAME` changes its servers.'],
  ['endpoint delete x', 2, 'An endpoint is a workload: `keelson rm NAME`.'],
  ['endpoint stop x', 2, 'An endpoint is a workload: `keelson stop NAME`.'],
  ['endpoint status nosuch', 1, NO_WORKLOAD],
  ['tui', 2, '`keelson tui` needs a terminal for its input and its output.'],
  ['tui extra', 2, 'There is one argument too many: "extra".'],
  ['edit', 2, '`keelson edit` needs NAME.'],
  ['edit nosuch img', 2, 'arguments of the server go after `--`'],
  ['prune x', 2, 'There is one argument too many: "x".'],
  ['prune --all', 2, 'Everything that nothing uses is meant. Omit the flag.'],
  ['supervisor start', 2, 'It starts by itself with the next `keelson run`'],
  ['supervisor kill', 2, 'Use `keelson supervisor stop`.'],
  ['supervisor logs', 2, '`keelson supervisor status` shows the path of its log.'],
  ['supervisor rum', 2, 'There is no command "supervisor rum".'],
  ['secret unlock', 1, 'Choose one with `keelson secret setup`'],
  ['secret unlock X', 2, 'There is one argument too many: "X".'],
  ['secret import /nosuch', 1, 'Choose one with `keelson secret setup`'],
  ['mcp call t --server x --args [1]', 2, '--args is not a JSON object: it is a list.'],
  [
    'mcp call t --server x --args {a:1}',
    2,
    '--args is not a JSON object: invalid symbol at line 1, column 2',
  ],
  ['mcp inspect', 2, '`keelson mcp inspect` needs TOOL.'],
  ['mcp read x --server y', 2, 'Clients read resources and prompts; `keelson mcp list --server NAME`'],
  ['mcp list --server https://user:pw@example.com/mcp', 2, 'The URL of --server contains a user name'],
  ['mcp list --server ftp://x', 2, '--server takes an http or https URL, or the name of a workload'],
  ['registry use https://x', 2, 'Use `keelson config set-registry URL`.'],
  ['group run team', 2, 'Use `keelson run --group GROUP TARGET`.'],
  ['search', 2, '`keelson search` needs WORD.'],
  ['search no such words', 0, 'No server matches "no such words".'],
  ['build', 2, '`keelson build` needs PACKAGE.'],
  ['find time', 2, 'Use `keelson search WORD`.'],
  ['-v', 2, 'Use `keelson version`.'],
  ['config get registry', 2, 'Did you mean `keelson config get-registry`?'],
  ['config view', 2, '`keelson config --help` lists the commands.'],
  ['registry search time', 2, 'Did you mean `keelson search`?'],
  ['registry add https://x', 2, 'Use `keelson config set-registry URL`.'],
  ['secret add X', 2, 'Did you mean `keelson secret set`?'],
  ['secret rm X', 2, 'Did you mean `keelson secret delete`?'],
  ['group add x', 2, 'Did you mean `keelson group create`?'],
  ['group delete x', 2, 'Did you mean `keelson group rm`?'],
  ['skill remove x', 2, 'Did you mean `keelson skill uninstall`?'],
  ['client add cursor', 2, 'Did you mean `keelson client register`?'],
  ['runtime list', 2, 'Did you mean `keelson runtime check`?'],
  ['mcp tools', 2, 'Did you mean `keelson mcp list`?'],
  ['mcp list myserver', 2, '`keelson mcp list --server myserver`.'],
  ['mcp call tool {"a":1} --server s', 2, 'Arguments of the tool go into --args'],
  ['secret set X value', 2, 'takes NAME and no other argument.\nType the value when it is asked for'],
  ['run --secret TOKEN=value img', 2, 'The reference TOKEN=[redacted] does not say'],
  ['export x y z w', 2, 'There are 2 arguments too many: "z", "w".'],
  ['client register', 2, '`keelson client register` needs CLIENT.'],
  ['auth login', 2, '`keelson auth login` needs WORKLOAD.'],
  ['inspect x --format json', 2, 'It prints JSON as it is.'],
  ['list --json', 2, 'There is no flag --json here.\nUse `--format json`.'],
  ['status --all', 2, '`keelson list` shows all workloads.'],
  ['version -x', 2, 'There is no flag -x here.\n`--help` lists the flags.'],
  ['rm -rf x', 2, 'A workload has no parts to remove.'],
  ['list --group nosuch', 1, 'There is no group "nosuch".'],
  ['list --group defualt', 1, 'Did you mean "default"?'],
  ['run npx @scope/server', 2, 'A package is written npx://NAME or uvx://NAME'],
  ['run npx -y @scope/server', 2, '`keelson run npx://PACKAGE`'],
  ['run npm://@scope/server', 2, 'Did you mean `keelson run npx://@scope/server`?'],
  ['run pip://server', 2, 'Did you mean `keelson run uvx://server`?'],
  ['run docker://mcp/time', 2, 'Did you mean `keelson run mcp/time`?'],
  ['run @scope/server', 2, 'Did you mean `keelson run npx://@scope/server`?'],
  ['run https:/example.com/mcp', 2, 'Did you mean `keelson run https://example.com/mcp`?'],
  ['run localhost:8080/mcp', 1, 'Did you mean `keelson run http://localhost:8080/mcp`?'],
  ['run ./server.js', 2, 'A file cannot be run by itself.'],
  ['run server.py', 1, 'A file cannot be run by itself.'],
  ['run C:\\server.exe', 2, 'A file cannot be run by itself.'],
  ['run --transport http img', 2, 'Did you mean streamable-http?'],
  ['run --gpus all img', 2, 'A server gets no devices of the host.'],
  ['run --workdir /x img', 2, 'The folder that the image names is taken.'],
  ['run --config x.json', 2, 'Use `--from-config FILE`'],
] as const)('keelson %s', { timeout: 60_000 }, async (line, code, words) => {
  const response = await typed(line)
  expect(response.said).toContain(words)
  expect(response.code).toBe(code)
  expect(response.said.split('\n').length, 'lines').toBeLessThan(8)
  expect(response.said).not.toMatch(/^\s+at |ENOENT|undefined|\[object|defect in keelson/m)
})

test.each([
  [['run', 'my server'], 2, '"my server" cannot be run'],
  [['run', '--name', 'my server', 'img'], 2, '"my server" is not a name for a workload.'],
  [['run', 'npx -y @scope/server'], 2, 'Did you mean `keelson run npx://@scope/server`?'],
  [['run', '-e', 'A = 1', 'img'], 2, '--env takes KEY=VALUE, not "A =…".'],
  [['stop', 'my server'], 2, '"my server" is not a name for a workload.'],
  [['group', 'create', 'My Group'], 2, '"My Group" is not a name for a group.'],
] as const)('keelson %j', { timeout: 60_000 }, async (words, code, said) => {
  const response = await typed(words)
  expect(response.said).toContain(said)
  expect(response.code).toBe(code)
})

test('a step is not reported for a workload that is not there', async () => {
  expect((await typed('start nosuch')).said).not.toContain('Starting')
  expect((await typed('restart nosuch')).said).not.toContain('Restarting')
})
