import type { Schema } from './schema.ts'
import { toTextCheck } from './text-schema.ts'

const PORT = '(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])'

/** A port of the server that is published, and the port of this host if it is said. */
export const publishedPort: Schema<string> = {
  type: 'string',
  pattern: `^(?:${PORT}:)?${PORT}$`,
  description: 'HOST:CONTAINER or CONTAINER, ports from 1 to 65535',
}

export const isPublishedPort = toTextCheck(publishedPort)
