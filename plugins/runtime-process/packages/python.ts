import { mkdir, readdir, readFile, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { WaitOptions } from '../../../src/contracts/runtime.ts'
import { findOnPath } from '../../../src/lib/find-on-path.ts'
import { programText } from '../../../src/lib/program-text.ts'
import { readPypiSettings } from '../../../src/lib/pypi-settings.ts'
import { runTool, type ToolResult } from '../../../src/lib/run-tool.ts'
import { failures } from '../failures.ts'
import type { InstallSandbox, WithInstallSandbox } from './install-sandbox.ts'
import type { PinnedPackage } from './installed-package.ts'
import { askInterpreter, containsHome, type Interpreter } from './interpreter.ts'
import type { Installed } from './npm.ts'
import { descriptionProblem, scriptNames, wheelProblem } from './wheel.ts'

const PIP = programText('plugins/runtime-process/programs/pip_without_programs.py')

/**
 * Installs a PyPI package into a virtual environment inside an empty folder, with uv where it is there.
 *
 * Wheels of the user's index only: building a source distribution would run package code. Nothing of
 * the environment is run here once packages are in it. The environment is moved after it was made, so
 * programs are started through its `python`, never through their first line, which names the old place.
 */
export async function installPython(
  withSandbox: WithInstallSandbox,
  pinned: PinnedPackage,
  folder: string,
  wait: WaitOptions = {},
): Promise<Installed> {
  const { name, extras, version, buildWith } = pinned
  const path = process.env.PATH ?? ''
  const uv = await findOnPath('uv', path)
  const python = await findPython(uv, wait.signal)
  if (!python) throw failures.process_tool_missing({ scheme: 'uvx', tool: 'python3' })
  if (containsHome(await realPathOf(python.prefix), await realPathOf(homedir()))) {
    throw failures.process_python_in_home({ program: python.program, prefix: python.prefix })
  }
  const extra = extras.length > 0 ? `[${extras.join(',')}]` : ''
  const wanted = [`${name}${extra}==${version}`, ...buildWith]
  const tool = uv === undefined ? 'pip' : 'uv'
  const settings = await readPypiSettings(process.env, tool)
  const reads = [python.prefix, python.program, ...(uv === undefined ? [] : [uv]), ...settings.files]
  const installation = { tool, folder, registries: settings.indexes, reads } as const
  await withSandbox(installation, wait, async sandbox => {
    const run = async (command: readonly string[], env: Readonly<Record<string, string>> = {}) => {
      const onLine = (line: string) => wait.report?.(`${name}: ${line}`, 'detail')
      const result = await sandbox.run(command, { env: { ...settings.env, ...env }, onLine })
      if (result.status !== 'ok') throw failed(pinned, sandbox, result)
    }
    const job = { run, sandbox, python, folder, wanted }
    const problem = uv === undefined ? await withPip(job) : await withUv(uv, job)
    if (problem) throw failures.process_install_failed({ package: `${name}==${version}`, problem })
  })
  const script = await findScript(name, await sitePackages(folder))
  const needs = [python.prefix].filter(Boolean)
  return { command: ['venv/bin/python', `venv/bin/${script}`], needs }
}

interface Job {
  readonly run: (command: readonly string[], env?: Readonly<Record<string, string>>) => Promise<void>
  readonly sandbox: InstallSandbox
  readonly python: Interpreter
  readonly folder: string
  readonly wanted: readonly string[]
}

/**
 * Downloads with pip, checks the wheels, then installs them. Returns a problem, or undefined.
 *
 * The interpreter's own pip does that where it has one: to put another one into the environment takes five
 * seconds, and servers need none.
 */
async function withPip({ run, sandbox, python, folder, wanted }: Job): Promise<string | undefined> {
  const bare = python.pip === '' ? [] : ['--without-pip']
  await run([python.program, '-I', '-m', 'venv', ...bare, join(folder, 'venv')])
  const wheels = join(sandbox.home, 'wheels')
  await mkdir(wheels)
  const pip = [join(folder, 'venv', 'bin', 'python'), '-I', '-c', PIP, python.pip]
  const cache = `--cache-dir=${sandbox.cache}`
  await run([...pip, 'download', '--only-binary', ':all:', '--dest', wheels, cache, ...wanted])
  const files = await readdir(wheels)
  for (const file of files) {
    if (!file.endsWith('.whl')) return `${file} is not a wheel.`
    const problem = wheelProblem(file, await readFile(join(wheels, file)))
    if (problem) return problem
  }
  const paths = files.map(file => join(wheels, file))
  await run([...pip, 'install', '--no-index', '--no-deps', cache, ...paths])
  return undefined
}

/** uv itself builds nothing and refuses requirements by URL from packages. Returns a problem, or undefined. */
async function withUv(
  uv: string,
  { run, sandbox, python, folder, wanted }: Job,
): Promise<string | undefined> {
  const environment = join(folder, 'venv')
  const env = { UV_CACHE_DIR: sandbox.cache, UV_LINK_MODE: 'copy', UV_PYTHON_DOWNLOADS: 'never' }
  await run([uv, '--no-config', 'venv', '--quiet', '--python', python.program, environment], env)
  const target = join(environment, 'bin', 'python')
  // Without `--quiet` uv writes its list of packages in hundreds of pieces, and aborts when these fill the socket.
  const install = ['pip', 'install', '--quiet', '--python', target, '--no-build']
  await run([uv, '--no-config', ...install, ...wanted], env)
  const packages = await sitePackages(folder)
  // A server cannot write beside its code, so each start would compile that again. pip does this too. `-S` ignores
  // `.pth` files, and files for other versions of Python may not compile.
  await sandbox.run([python.program, '-I', '-S', '-m', 'compileall', '-q', packages])
  return environmentProblem(packages)
}

/** Says why an environment must not be run, by the metadata of its packages. */
async function environmentProblem(packages: string): Promise<string | undefined> {
  const infos = (await readdir(packages)).filter(entry => entry.endsWith('.dist-info'))
  for (const info of infos) {
    const read = (file: string) => readFile(join(packages, info, file), 'utf8').catch(() => '')
    const [metadata, entryPoints] = await Promise.all([read('METADATA'), read('entry_points.txt')])
    const problem = descriptionProblem(info.replace(/\.dist-info$/, ''), { metadata, entryPoints })
    if (problem) return problem
  }
  return undefined
}

/** The path with links resolved, if it exists. */
const realPathOf = (path: string): Promise<string> => realpath(path).catch(() => path)

/** The interpreter that uv would take, else the one on PATH. */
async function findPython(uv: string | undefined, signal: AbortSignal | undefined) {
  if (uv !== undefined) {
    const found = await runTool([uv, '--no-config', 'python', 'find', '--no-python-downloads'], { signal })
    const python = found.status === 'ok' ? await askInterpreter(found.stdout.trim(), signal) : undefined
    if (python) return python
  }
  return askInterpreter('python3', signal)
}

const failed = ({ name, version }: PinnedPackage, sandbox: InstallSandbox, result: ToolResult) => {
  const wanted = `${name}==${version}`
  const problem = unavailable(wanted, result.stderr) ?? sandbox.problemOf(result)
  return failures.process_install_failed({ package: wanted, problem })
}

/** Why pip finds nothing to install; undefined where it failed in another way. */
export function unavailable(wanted: string, stderr: string): string | undefined {
  const lacking = /^ERROR: No matching distribution found for (\S+)/m.exec(stderr)?.[1]
  if (lacking === undefined) return undefined
  if (lacking !== wanted) return `the package index has no wheel of ${lacking} for this machine.`
  const version = wanted.replace(/^.*==/, '')
  // Such as `1.0 Requires-Python >=3.12; 1.1 Requires-Python >=3.12,<4`
  const [, ignored = ''] = /Ignored the following versions .*: (\S+ Requires-Python .*)$/m.exec(stderr) ?? []
  const needs = ignored.split('; ').find(text => text.startsWith(`${version} Requires-Python `))
  return needs
    ? `it needs Python ${needs.replace(/^.*Requires-Python /, '')}, which this machine does not have.`
    : 'there is no such version, or no wheel of it for this machine.'
}

async function sitePackages(folder: string): Promise<string> {
  const lib = join(folder, 'venv', 'lib')
  const [python = ''] = await readdir(lib)
  return join(lib, python, 'site-packages')
}

const canonical = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-') // PEP 503

/** The program of a package: the one with its name, or its only one. */
async function findScript(name: string, packages: string): Promise<string> {
  const folder = (await readdir(packages)).find(
    entry =>
      entry.endsWith('.dist-info') && canonical(entry.replace(/-[^-]*\.dist-info$/, '')) === canonical(name),
  )
  const text = folder
    ? await readFile(join(packages, folder, 'entry_points.txt'), 'utf8').catch(() => '')
    : ''
  const names = scriptNames(text)
  const script =
    names.find(entry => canonical(entry) === canonical(name)) ?? (names.length === 1 ? names[0] : undefined)
  if (!script) throw failures.process_no_entry({ package: name, names })
  return script
}
