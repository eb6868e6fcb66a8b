/**
 * What `run` was asked for; the command line, a request over HTTP and an upgrade fill the same type. An
 * option has the name of the flag that sets it. The plugin that owns a flag adds its option through
 * declaration merging, so that it is absent where the plugin is.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by the plugins
export interface RunOptions {}
