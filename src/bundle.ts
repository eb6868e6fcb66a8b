/** The built program as one file: what `main.ts` runs, and what third-party plugins import. */
export const main = async (): Promise<number> => (await import('./program.ts')).main()
export const loadPluginApi = () => import('./plugin-api.ts')
