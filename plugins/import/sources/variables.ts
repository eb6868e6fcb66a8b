const CREDENTIAL =
  /(password|passwd|secret|token|authorization|api[-_]?key|access[-_]?key|credential|cookie|private[-_]?key)/i

/** Whether a variable or header of this name holds a credential, as far as its name tells. */
export const isCredential = (name: string): boolean => CREDENTIAL.test(name)

/** Whether a client fills in a part of the text: `${input:token}`, `${env:HOME}`, `${workspaceFolder}`. */
export const isPlaceholder = (text: string): boolean => text.includes('${')

/**
 * Variables for a run config. Those whose names say that they are credentials become names of secrets: a value is not
 * copied from one file in clear to another.
 */
export function toVariables(env: Record<string, unknown>): {
  env_vars: Record<string, string>
  secrets: string[]
  left: string[]
} {
  const [env_vars, secrets, left]: [Record<string, string>, string[], string[]] = [{}, [], []]
  for (const [name, value] of Object.entries(env)) {
    if (isCredential(name)) {
      secrets.push(`${name},target=${name}`)
      left.push(`value of ${name}: keelson secret set ${name}`)
    } else if (typeof value === 'string' && !isPlaceholder(value)) env_vars[name] = value
    else if (value === undefined) left.push(`variable ${name}: its value is not in the file`)
    else left.push(`variable ${name}: only the client knows its value`)
  }
  return { env_vars, secrets, left }
}
