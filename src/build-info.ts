import manifest from '../package.json' with { type: 'json' }

declare const __KEELSON_BUILD__: string | undefined

/** Version of the program, as published. */
export const VERSION: string = manifest.version

/** Tells builds of one version apart: a hash of the sources, or `dev` when they run unbuilt. */
export const BUILD: string = typeof __KEELSON_BUILD__ === 'string' ? __KEELSON_BUILD__ : 'dev'
