import { failures } from '../failures.ts'

/** Fails with `registry_missing` for any name but that of the only registry. */
export function assertDefault(name: string): void {
  if (name !== 'default') throw failures.registry_missing({ name })
}
