import { readFile } from 'node:fs/promises'
import * as cedar from '@cedar-policy/cedar-wasm/web'

export type Cedar = typeof cedar

let loading: Promise<Cedar> | undefined

/** Cedar, compiled once for the process. */
export function loadCedar(): Promise<Cedar> {
  loading ??= load()
  return loading
}

async function load(): Promise<Cedar> {
  cedar.initSync({ module: await readFile(moduleUrl()) })
  return cedar
}

/** In the built program it lies beside this file (tsup.config.ts). */
const moduleUrl = (): URL =>
  new URL(
    'cedar_wasm_bg.wasm',
    import.meta.url.endsWith('.ts') ? import.meta.resolve('@cedar-policy/cedar-wasm/web') : import.meta.url,
  )
