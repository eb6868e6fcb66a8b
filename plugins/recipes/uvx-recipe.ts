import { toRecipe } from './phases.ts'
import type { CheckedOptions, Pinned, Recipe } from './recipe.ts'
import { recipeProgram } from './recipe-program.ts'
import { run } from './stages.ts'

export const UVX_IMAGE = 'python:3.14-slim'
const WANTS = ['git', 'ca-certificates']
const PYTHON = '/app/venv/bin/python'

/** A PyPI package in a virtual environment of its own. */
export function uvxRecipe({ reference, version }: Pinned, options: CheckedOptions): Recipe {
  const { name, extras, wanted } = reference
  const image = options.image ?? UVX_IMAGE
  const exact = version ?? wanted
  const extra = extras.length > 0 ? `[${extras.join(',')}]` : ''
  const requirements = [`${name}${extra}${exact ? `==${exact}` : ''}`, ...options.buildWith]
  const files = new Map([['requirements.txt', `${requirements.join('\n')}\n`]])
  return toRecipe(
    {
      fetch: {
        image,
        wants: [...WANTS, 'python3-venv'],
        tools: [run('python3', '-m', 'venv', '/app/venv')],
        folder: '/fetched',
        steps: [
          'COPY requirements.txt fetch.py guarded_pip.py /keelson/',
          run(PYTHON, '/keelson/fetch.py', name),
        ],
        files: new Map([
          ...files,
          ['fetch.py', recipeProgram('fetch_pypi.py')],
          ['guarded_pip.py', recipeProgram('guarded_pip.py')],
        ]),
      },
      build: {
        steps: [
          'COPY requirements.txt build_sdists.py link_entry.py install.sh /keelson/',
          run(
            ...['/bin/sh', '/keelson/install.sh', name],
            ...(options.allowNetwork ? [] : ['--no-index', '--find-links=/fetched/tools']),
          ),
        ],
        files: new Map([
          ...files,
          ['build_sdists.py', recipeProgram('build_sdists.py')],
          ['link_entry.py', recipeProgram('link_entry.py')],
          ['install.sh', recipeProgram('install_pypi.sh')],
        ]),
      },
      runtime: { image, wants: WANTS, env: ['PYTHONUNBUFFERED=1', 'PYTHONDONTWRITEBYTECODE=1'] },
    },
    options,
  )
}
