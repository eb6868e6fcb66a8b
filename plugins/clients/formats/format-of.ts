import type { ClientSpec } from '../known-clients.ts'
import type { Format } from './format.ts'

/** Loads the editor of a format; the libraries behind them are heavy. */
export async function formatOf(format: ClientSpec['format']): Promise<Format> {
  if (format === 'json') return (await import('./json.ts')).json
  return format === 'yaml' ? (await import('./yaml.ts')).yaml : (await import('./toml.ts')).toml
}
