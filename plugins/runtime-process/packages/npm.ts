import { readFile, realpath, writeFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import * as t from 'typanion'
import type { WaitOptions } from '../../../src/contracts/runtime.ts'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { parseDocument } from '../../../src/parse-document.ts'
import { isInside } from '../../../src/third-party.ts'
import { failures } from '../failures.ts'
import type { PinnedPackage } from './installed-package.ts'
import type { InstallWithNpm } from './npm-install.ts'
import { withScripts } from './npm-lock.ts'

/** What an installer says of the package it has put into the folder: its program and what that needs. */
export interface Installed {
  /** Options of Node, which runs it; absent when the program runs by itself. */
  readonly node?: string[]
  readonly command: string[]
  readonly needs: string[]
}

/** Installs an npm package into an empty folder. Packages with scripts are named: they may miss a native part. */
export async function installNpm(
  npmInstall: InstallWithNpm,
  { name, version }: PinnedPackage,
  folder: string,
  wait: WaitOptions = {},
): Promise<Installed> {
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'workload', private: true, dependencies: { [name]: version } }),
  )
  const result = await npmInstall({ folder }, wait)
  if (result.status === 'missing') throw failures.process_tool_missing({ scheme: 'npx', tool: 'npm' })
  if (result.status === 'failed') {
    throw failures.process_install_failed({ package: `${name}@${version}`, problem: result.problem })
  }
  const scripted = withScripts(result.lock)
  if (scripted.length > 0) {
    wait.report?.(`warning: install scripts were not run on this host: ${scripted.join(', ')}`)
  }
  const home = join('node_modules', name)
  const bin = await findBin(name, join(folder, home))
  const text = await readFile(join(folder, home, bin), 'utf8').catch(error => {
    if (!isMissing(error)) throw error
    throw failures.process_entry_missing({ package: name, file: bin }, { cause: error })
  })
  const node = nodeOptions(bin, text)
  return { ...(node ? { node } : {}), command: [join(home, bin)], needs: [] }
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

/** The program of a package, a file inside it: its only one, or the one with the package's name without the scope. */
async function findBin(name: string, folder: string): Promise<string> {
  const path = join(folder, 'package.json')
  const { bin } = parseDocument(await readFile(path, 'utf8'), path, manifest)
  const bins = typeof bin === 'string' ? { [name]: bin } : (bin ?? {})
  const files = [...new Set(Object.values(bins))]
  const file = bins[name.replace(/^@[^/]+\//, '')] ?? (files.length === 1 ? files[0] : undefined)
  if (!file) throw failures.process_no_entry({ package: name, names: Object.keys(bins) })
  const real = await realpath(join(folder, file)).catch(() => join(folder, file))
  if (!isInside(file) || !real.startsWith((await realpath(folder)) + sep)) {
    throw failures.process_entry_outside({ package: name, file })
  }
  return file
}
