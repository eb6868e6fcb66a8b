import type { PluginEntry } from '../../../src/plugin.ts'

const list = async () => [(await import('./list-workloads.ts')).List]

/** The commands under each verb. Each is loaded alone: they are what people start most, and wait for. */
export const workloadCommands: NonNullable<PluginEntry['commands']> = {
  run: async () => [(await import('./run.ts')).Run],
  list,
  ls: list,
  ps: list,
  status: async () => [(await import('./status.ts')).StatusOf],
  inspect: async () => [(await import('./inspect.ts')).Inspect],
  stop: async () => [(await import('./stop.ts')).Stop],
  start: async () => [(await import('./start.ts')).Start],
  restart: async () => [(await import('./restart.ts')).Restart],
  edit: async () => [(await import('./edit.ts')).Edit],
  rename: async () => [(await import('./rename.ts')).Rename],
  clone: async () => [(await import('./clone.ts')).Clone],
  rm: async () => [(await import('./rm.ts')).Remove],
  stats: async () => [(await import('./stats.ts')).Stats],
  logs: async () => [(await import('./logs.ts')).Logs, (await import('./logs-prune.ts')).LogsPrune],
  export: async () => [(await import('./export.ts')).Export],
}
