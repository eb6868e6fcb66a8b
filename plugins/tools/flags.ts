import { type FlagOptions, type FlagValues, flag } from '../../src/cli/flags.ts'
import { failures as core } from '../../src/errors.ts'
import type { RunFlags } from '../../src/plugin.ts'
import type { Settings } from './selection.ts'

/** Without a name nothing would be selected, and a script whose variable is empty would show all tools. */
function names(description: string) {
  const list = flag.commaList(description, 'NAME')
  const parse = (text: string, name: string) => {
    const found = list.parse(text, name)
    if (Array.isArray(found) && found.length) return found
    throw core.usage({
      text: `--${name} names no tool.`,
      hint: 'Leave the flag out if that is what you want.',
    })
  }
  return { ...list, parse }
}

export const toolsTable = {
  tools: names('tools that clients may see and call: names, or patterns such as "get_*" (default: all)'),
  'tools-deny': names('tools that clients may not see or call: names or patterns'),
  'tools-read-only': flag.boolean(
    'show only tools whose annotations say that they change nothing (readOnlyHint)',
  ),
  'tools-override': flag.file('JSON file that gives tools other names, descriptions and arguments'),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof toolsTable> {}
}

/** The flags about tools of the commands that make a run config. */
export const toolsFlags: RunFlags = {
  title: 'Tools',
  of: ['run', 'proxy'],
  flags: toolsTable,
  async apply(values: FlagValues<typeof toolsTable>, config) {
    Object.assign(config, await readSettings(values))
  },
}

/** What the flags that were given say. */
export async function readSettings(values: FlagValues<typeof toolsTable>): Promise<Settings> {
  const path = values['tools-override']
  const overrides =
    path === undefined ? undefined : await (await import('./read-overrides.ts')).readOverrides(path)
  return {
    ...(values.tools.length ? { tools_filter: [...values.tools] } : {}),
    ...(values['tools-deny'].length ? { tools_deny: [...values['tools-deny']] } : {}),
    ...(values['tools-read-only'] ? { tools_read_only: true } : {}),
    ...(overrides ? { tools_override: overrides } : {}),
  }
}
