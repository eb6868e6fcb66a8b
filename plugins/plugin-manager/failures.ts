import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  plugin_missing: {
    status: 404,
    text: (d: { name: string; near?: string | undefined }) => `There is no added plugin "${d.name}".`,
    hint: d =>
      d.near ? `Did you mean "${d.near}"?` : '`keelson plugin list` shows the plugins that you have added.',
  },
  plugin_source: {
    status: 400,
    text: (d: { source: string; problem: string }) =>
      `No plugin can be read from "${d.source}": ${d.problem}`,
    hint: 'Name an npm package (`name`, `@scope/name`, `name@1.2.3`), a folder or a .tgz file.',
  },
  plugin_manifest: {
    status: 400,
    text: (d: { source: string; problem: string }) =>
      `"${d.source}" is not a plugin for keelson: ${d.problem}`,
    hint: 'Its package.json needs a member `keelson`; docs/plugins.md describes it.',
  },
  plugin_taken: {
    status: 409,
    text: (d: { plugin: string; what: string; by: string }) =>
      `The plugin "${d.plugin}" cannot be added: ${d.what} belongs to ${d.by}.`,
    hint: d =>
      d.by.startsWith('the plugin ')
        ? 'Remove that plugin first, if you want this one instead.'
        : 'Its author has to choose another.',
  },
  plugin_install: {
    status: 502,
    text: (d: { source: string; problem: string }) => `npm could not install "${d.source}": ${d.problem}`,
    hint: 'Nothing was changed. Check the name and the connection, then try again.',
  },
  plugin_npm_missing: {
    status: 501,
    text: () => 'npm is needed to install this plugin, and is not installed.',
    hint: 'Install npm (it comes with Node.js), or add a folder that needs no packages.',
  },
  plugin_lock_broken: {
    status: 500,
    text: (d: { problem: string }) => d.problem,
    hint: 'Repair the file, or move it away and add your plugins again.',
  },
})
