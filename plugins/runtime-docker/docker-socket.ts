import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import * as t from 'typanion'

type Env = Readonly<Record<string, string | undefined>>

const settings = t.isObject({ currentContext: t.isOptional(t.isString()) }, { extra: t.isUnknown() })

/** The Unix socket of the engine that the `docker` program calls. Undefined when a context or a URL names another engine. */
export function findDockerSocket(env: Env): string | undefined {
  const { DOCKER_HOST, DOCKER_CONTEXT } = env
  if (DOCKER_HOST && DOCKER_CONTEXT) return undefined // which of them counts depends on the program's version
  if (DOCKER_HOST) return DOCKER_HOST.startsWith('unix://') ? DOCKER_HOST.slice('unix://'.length) : undefined
  const context = DOCKER_CONTEXT || currentContext(env) || 'default'
  return context === 'default' ? '/var/run/docker.sock' : undefined
}

function currentContext({ DOCKER_CONFIG, HOME }: Env): string | undefined {
  try {
    const found: unknown = JSON.parse(
      readFileSync(join(DOCKER_CONFIG || join(HOME || homedir(), '.docker'), 'config.json'), 'utf8'),
    )
    return settings(found) ? found.currentContext : undefined
  } catch {
    return undefined
  }
}
