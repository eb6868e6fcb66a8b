import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import * as cedar from '@cedar-policy/cedar-wasm/web'

export type Cedar = typeof cedar

let loading: Promise<Cedar> | undefined

/** Cedar, compiled once for the process. */
export function loadCedar(): Promise<Cedar> {
  loading ??= load()
  return loading
}

async function load(): Promise<Cedar> {
  cedar.initSync({ module: await readModule() })
  return cedar
}

const MODULE = 'cedar_wasm_bg.wasm'

/** In the built program it lies beside this file, compressed to a quarter (tsup.config.ts). */
async function readModule(): Promise<Uint8Array> {
  if (import.meta.url.endsWith('.ts'))
    return readFile(new URL(MODULE, import.meta.resolve('@cedar-policy/cedar-wasm/web')))
  return promisify(brotliDecompress)(await readFile(new URL(`${MODULE}.br`, import.meta.url)))
}
