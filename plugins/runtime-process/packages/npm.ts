import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as t from 'typanion'
import type { WaitOptions } from '../../../src/contracts/runtime.ts'
import { parseDocument } from '../../../src/document.ts'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { npmCommand } from '../../../src/lib/newest-version.ts'
import { lastLines, runTool } from '../../../src/lib/run-tool.ts'
import { failures } from '../failures.ts'
import type { PinnedPackage } from './installed-package.ts'

/** What an installer says of the package it has put into the folder: its program and what that needs. */
export interface Installed {
  /** Options of Node, which runs it; absent when the program runs by itself. */
  readonly node?: string[]
  readonly command: string[]
  readonly needs: string[]
}

/**
 * Installs an npm package into an empty folder.
 *
 * Install scripts stay off: they would run package code outside of any sandbox, before the user has
 * started anything. Packages that have some are named, since they may miss a native part.
 */
export async function installNpm(
  { name, version }: PinnedPackage,
  folder: string,
  { signal, report }: WaitOptions = {},
): Promise<Installed> {
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'workload', private: true, dependencies: { [name]: version } }),
  )
  const result = await runTool(
    [
      ...npmCommand(),
      'install',
      '--ignore-scripts',
      '--omit=dev',
      '--no-audit',
      '--no-fund',
      '--no-update-notifier',
      '--prefer-offline',
      '--loglevel=error',
    ],
    { cwd: folder, signal, onLine: line => report?.(`npm: ${line}`, 'detail') },
  )
  if (result.status === 'missing') throw failures.process_tool_missing({ scheme: 'npx', tool: 'npm' })
  if (result.status === 'failed') {
    throw failures.process_install_failed({
      package: `${name}@${version}`,
      problem: lastLines(result.stderr) || lastLines(result.stdout),
    })
  }
  const scripted = await packagesWithScripts(folder)
  if (scripted.length > 0) {
    report?.(`warning: install scripts were not run on this host: ${scripted.join(', ')}`)
  }
  const bin = await findBin(name, folder)
  const text = await readFile(join(folder, bin), 'utf8').catch(error => {
    if (!isMissing(error)) throw error
    throw failures.process_entry_missing({ package: name, file: bin }, { cause: error })
  })
  const node = nodeOptions(bin, text)
  return { ...(node ? { node } : {}), command: [bin], needs: [] }
}

/** What the first line gives to Node; undefined when it names another interpreter. */
function nodeOptions(file: string, text: string): string[] | undefined {
  const [first = ''] = text.split('\n', 1)
  if (!first.startsWith('#!')) return /\.[cm]?js$/.test(file) ? [] : undefined
  return /\bnode\b(.*)$/.exec(first)?.[1]?.trim().split(/\s+/).filter(Boolean)
}

const manifest = t.isObject(
  { bin: t.isOptional(t.isOneOf([t.isString(), t.isRecord(t.isString())])) },
  { extra: t.isUnknown() },
)

/** The program of a package: its only one, or the one with the package's name without the scope. */
async function findBin(name: string, folder: string): Promise<string> {
  const home = join('node_modules', name)
  const path = join(folder, home, 'package.json')
  const { bin } = parseDocument(await readFile(path, 'utf8'), path, manifest)
  const bins = typeof bin === 'string' ? { [name]: bin } : (bin ?? {})
  const files = [...new Set(Object.values(bins))]
  const file = bins[name.replace(/^@[^/]+\//, '')] ?? (files.length === 1 ? files[0] : undefined)
  if (!file) throw failures.process_no_entry({ package: name, names: Object.keys(bins) })
  return join(home, file)
}

const lockfile = t.isObject(
  {
    packages: t.isRecord(
      t.isObject({ hasInstallScript: t.isOptional(t.isBoolean()) }, { extra: t.isUnknown() }),
    ),
  },
  { extra: t.isUnknown() },
)

async function packagesWithScripts(folder: string): Promise<string[]> {
  const path = join(folder, 'package-lock.json')
  const { packages } = parseDocument(await readFile(path, 'utf8'), path, lockfile)
  return Object.entries(packages)
    .filter(([, entry]) => entry.hasInstallScript)
    .map(([place]) => place.replace(/^.*node_modules\//, ''))
}
