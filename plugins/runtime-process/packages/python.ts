import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { WaitOptions } from '../../../src/contracts/runtime.ts'
import { lastLines, runTool } from '../../../src/lib/run-tool.ts'
import { failures } from '../failures.ts'
import type { PinnedPackage } from './installed-package.ts'
import type { Installed } from './npm.ts'

/**
 * Installs a PyPI package into a virtual environment inside an empty folder, with uv where it is there.
 *
 * Wheels only: building a source distribution would run package code outside of any sandbox. The
 * environment is moved after it was made, so programs are started through its `python`, never
 * through their first line, which names the old place.
 */
export async function installPython(
  { name, extras, version, buildWith }: PinnedPackage,
  folder: string,
  { signal, report }: WaitOptions = {},
): Promise<Installed> {
  const onLine = (line: string) => report?.(`${name}: ${line}`, 'detail')
  const extra = extras.length > 0 ? `[${extras.join(',')}]` : ''
  const wanted = [`${name}${extra}==${version}`, ...buildWith]
  const environment = join(folder, 'venv')
  const python = join(environment, 'bin', 'python')

  const uv = await runTool(['uv', 'venv', '--quiet', environment], { signal })
  if (uv.status !== 'ok') {
    const venv = await runTool(['python3', '-m', 'venv', environment], { signal })
    if (venv.status === 'missing')
      throw failures.process_tool_missing({ scheme: 'uvx', tool: 'uv or python3' })
    if (venv.status === 'failed') {
      // Debian keeps venv apart from python3
      const problem = lastLines(venv.stderr) || lastLines(venv.stdout)
      throw failures.process_install_failed({ package: name, problem })
    }
  }
  const install =
    uv.status === 'ok'
      ? ['uv', 'pip', 'install', '--python', python, '--no-build', ...wanted]
      : [python, '-m', 'pip', 'install', '--only-binary', ':all:', '--no-input', ...wanted]
  const result = await runTool(install, { signal, onLine })
  if (result.status !== 'ok') {
    throw failures.process_install_failed({
      package: `${name}==${version}`,
      problem: lastLines(result.stderr),
    })
  }
  // -S: without it, Python would run the .pth files of what was just installed
  const base = await runTool([python, '-I', '-S', '-c', 'import sys; print(sys.base_prefix)'], { signal })
  const script = await findScript(name, environment)
  return { command: ['venv/bin/python', `venv/bin/${script}`], needs: [base.stdout.trim()].filter(Boolean) }
}

const canonical = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-') // PEP 503

/** The program of a package: the one with its name, or its only one (entry points specification). */
async function findScript(name: string, environment: string): Promise<string> {
  const [python = ''] = await readdir(join(environment, 'lib'))
  const packages = join(environment, 'lib', python, 'site-packages')
  const folder = (await readdir(packages)).find(
    entry =>
      entry.endsWith('.dist-info') && canonical(entry.replace(/-[^-]*\.dist-info$/, '')) === canonical(name),
  )
  const text = folder
    ? await readFile(join(packages, folder, 'entry_points.txt'), 'utf8').catch(() => '')
    : ''
  const section = /^\[console_scripts\]\s*$([\s\S]*?)(?=^\[|$(?![\s\S]))/m.exec(text)?.[1] ?? ''
  const names = section
    .split('\n')
    .map(line => line.split('=')[0]?.trim() ?? '')
    .filter(Boolean)
  const script =
    names.find(entry => canonical(entry) === canonical(name)) ?? (names.length === 1 ? names[0] : undefined)
  if (!script || script.includes('/')) throw failures.process_no_entry({ package: name, names })
  return script
}
