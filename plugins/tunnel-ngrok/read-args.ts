import { resolve } from 'node:path'
import { messageOf } from '../../src/errors.ts'
import { readUserFile } from '../../src/user-file.ts'
import { failures } from './failures.ts'

export interface NgrokArgs {
  readonly authToken: string | undefined
  /** The address that the user has reserved. */
  readonly url: string | undefined
  readonly trafficPolicyFile: string | undefined
  readonly pooling: boolean
}

const MEMBERS = new Set(['auth-token', 'url', 'traffic-policy-file', 'pooling'])

const wrong = (problem: string) => failures.ngrok_args_wrong({ problem })

/** Fails with `ngrok_args_wrong`. */
export async function readNgrokArgs(args: Readonly<Record<string, unknown>>): Promise<NgrokArgs> {
  const unknown = Object.keys(args).find(name => !MEMBERS.has(name))
  if (unknown !== undefined) throw wrong(`there is no member ${JSON.stringify(unknown)}`)
  const text = (name: string): string | undefined => {
    const value = args[name]
    if (value === undefined || (typeof value === 'string' && value !== '' && !value.startsWith('-')))
      return value
    throw wrong(`"${name}" is a text`)
  }
  const { pooling = false } = args
  if (typeof pooling !== 'boolean') throw wrong('"pooling" is true or false')
  const policy = text('traffic-policy-file')
  return {
    authToken: text('auth-token'),
    url: text('url'),
    trafficPolicyFile: policy === undefined ? undefined : await checkPolicy(resolve(policy)),
    pooling,
  }
}

async function checkPolicy(path: string): Promise<string> {
  if (!/\.ya?ml$/.test(path)) throw wrong('"traffic-policy-file" names a file that ends with .yml or .yaml')
  const content = await readUserFile(path, 'The traffic policy')
  const { parseYaml } = await import('../../src/lib/parse-yaml.ts')
  try {
    parseYaml(content)
  } catch (error) {
    throw wrong(`${path} is not valid YAML: ${messageOf(error).split('\n')[0]?.replace(/:$/, '')}`)
  }
  return path
}
