import type { RunConfig } from '../../src/contracts/run-config.ts'
import { failures } from './failures.ts'

/** Names may hold anything but what ends a line or is not shown; MCP has no narrower rule that all servers keep. */
const NAME = /^[^\p{Cc}\p{Zl}\p{Zp}]{1,256}$/u

type Settings = Pick<RunConfig, 'tools_filter' | 'tools_override' | 'tools_deny' | 'tools_read_only'>

/** Checks what is known without the server. Fails with `tools_invalid`. */
export function assertSettings({ tools_filter, tools_override, tools_deny }: Settings): void {
  for (const name of [...(tools_filter ?? []), ...(tools_deny ?? [])]) assertName(name)
  const names = new Map<string, string>()
  for (const [real, override] of Object.entries(tools_override ?? {})) {
    assertName(real)
    const { name, description, hidden_arguments, fixed_arguments } = override
    const asks = [name, description, hidden_arguments?.length, Object.keys(fixed_arguments ?? {}).length]
    if (!asks.some(Boolean)) throw invalid(`the entry of "${real}" has no name, description or arguments`)
    const both = hidden_arguments?.find(argument => Object.hasOwn(fixed_arguments ?? {}, argument))
    if (both !== undefined) throw invalid(`the argument "${both}" of "${real}" is both hidden and fixed`)
    if (!name) continue
    assertName(name)
    const other = names.get(name)
    if (other !== undefined) throw invalid(`"${other}" and "${real}" both get the name "${name}"`)
    names.set(name, real)
  }
}

function assertName(name: string): void {
  if (!NAME.test(name)) throw invalid(`${JSON.stringify(name.slice(0, 100))} is not a name of a tool`)
}

const invalid = (problem: string) => failures.tools_invalid({ problem })
