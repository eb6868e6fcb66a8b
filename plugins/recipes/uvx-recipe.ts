import { variableFiles, withVariables } from './build-variables.ts'
import type { CheckedOptions, Pinned, Recipe } from './recipe.ts'
import { VERSION_LINE } from './recipe.ts'
import { beginStage, caFiles, endStage, run, toDockerfile } from './stages.ts'

export const UVX_IMAGE = 'python:3.14-slim'
const WANTS = ['git', 'ca-certificates']

/** Runs in the builder: makes /app/mcp-server a link to the package's program (entry points specification). */
const LINK_ENTRY = `import os, re, sys
from importlib.metadata import distribution

def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()

package = sys.argv[1]
found = distribution(package)
names = [e.name for e in found.entry_points if e.group == "console_scripts"]
same = [n for n in names if canonical(n) == canonical(package)]
chosen = (same or names)[0] if same or len(names) == 1 else None
if chosen is None:
    if names:
        sys.exit(f"{package} has several programs ({', '.join(names)}) and none bears its name.")
    sys.exit(f"{package} has no program to run.")
os.symlink(f"venv/bin/{chosen}", "/app/mcp-server")
print("${VERSION_LINE}" + found.version)
`

/** A PyPI package in a virtual environment of its own. */
export function uvxRecipe({ reference, version }: Pinned, options: CheckedOptions): Recipe {
  const { name, extras, wanted } = reference
  const image = options.image ?? UVX_IMAGE
  const exact = version ?? wanted
  const extra = extras.length > 0 ? `[${extras.join(',')}]` : ''
  const requirements = [`${name}${extra}${exact ? `==${exact}` : ''}`, ...options.buildWith]
  const install = ['/app/venv/bin/python', '-m', 'pip', 'install', '--no-cache-dir', '--no-input']
  return {
    dockerfile: toDockerfile([
      ...withVariables(
        [
          ...beginStage(image, options, { as: 'builder', wants: [...WANTS, 'python3-venv'] }),
          run('python3', '-m', 'venv', '/app/venv'),
          'COPY requirements.txt link_entry.py /keelson/',
          run(...install, '--disable-pip-version-check', '-r', '/keelson/requirements.txt'),
          run('/app/venv/bin/python', '/keelson/link_entry.py', name),
        ],
        options.variables,
      ),
      '',
      ...beginStage(image, options, { wants: WANTS }),
      ...endStage(options.args, ['PYTHONUNBUFFERED=1', 'PYTHONDONTWRITEBYTECODE=1']),
    ]),
    files: new Map([
      ['requirements.txt', `${requirements.join('\n')}\n`],
      ['link_entry.py', LINK_ENTRY],
      ...caFiles(options.ca),
      ...variableFiles(options.variables),
    ]),
  }
}
