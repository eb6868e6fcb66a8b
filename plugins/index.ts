import type { PluginEntry } from '../src/plugin.ts'

/**
 * The built-in plugins. What stands here is known without loading any code: a verb loads only its
 * own plugin, a service or contribution only the plugins that say they have it.
 */
export const builtins: readonly PluginEntry[] = [
  {
    name: 'workloads',
    verbs: ['run', 'list', 'ls', 'status', 'stop', 'start', 'restart', 'rm', 'logs', 'export'],
    services: ['workloads', 'workloadStore'],
    provides: ['targets'],
    routes: true,
    load: async () => (await import('./workloads/index.ts')).default,
  },
  {
    name: 'proxy',
    services: ['proxies'],
    provides: ['flags', 'sections'],
    load: async () => (await import('./proxy/index.ts')).default,
  },
  {
    name: 'ignore',
    services: ['overlays'],
    provides: ['flags'],
    load: async () => (await import('./ignore/index.ts')).default,
  },
  {
    name: 'egress',
    verbs: ['egress'],
    services: ['egress'],
    provides: ['flags', 'sections'],
    routes: true,
    load: async () => (await import('./egress/index.ts')).default,
  },
  {
    name: 'supervisor',
    verbs: ['supervisor'],
    services: ['supervisor'],
    load: async () => (await import('./supervisor/index.ts')).default,
  },
  {
    name: 'recipes',
    verbs: ['build'],
    services: ['recipes'],
    provides: ['flags'],
    load: async () => (await import('./recipes/index.ts')).default,
  },
  {
    name: 'runtimes',
    verbs: ['runtime'],
    services: ['runtimes'],
    load: async () => (await import('./runtimes/index.ts')).default,
  },
  {
    name: 'runtime-docker',
    provides: ['runtimes'],
    load: async () => (await import('./runtime-docker/index.ts')).default,
  },
  {
    name: 'runtime-podman',
    provides: ['runtimes'],
    load: async () => (await import('./runtime-podman/index.ts')).default,
  },
  {
    name: 'runtime-process',
    provides: ['runtimes'],
    load: async () => (await import('./runtime-process/index.ts')).default,
  },
  {
    name: 'oci',
    services: ['oci'],
    load: async () => (await import('./oci/index.ts')).default,
  },
  {
    name: 'image-verification',
    services: ['imageVerification'],
    provides: ['flags'],
    load: async () => (await import('./image-verification/index.ts')).default,
  },
  {
    name: 'mcp',
    verbs: ['mcp'],
    routes: true,
    load: async () => (await import('./mcp/index.ts')).default,
  },
  {
    name: 'registry',
    verbs: ['registry', 'search'],
    services: ['registry'],
    provides: ['targets'],
    routes: true,
    load: async () => (await import('./registry/index.ts')).default,
  },
  {
    name: 'auth-out',
    services: ['registryTokens'],
    load: async () => (await import('./auth-out/index.ts')).default,
  },
  {
    name: 'skills',
    verbs: ['skill'],
    services: ['skills', 'skillSources', 'skillBuilds'],
    routes: true,
    load: async () => (await import('./skills/index.ts')).default,
  },
  {
    name: 'upgrade',
    verbs: ['upgrade'],
    services: ['upgrades'],
    routes: true,
    load: async () => (await import('./upgrade/index.ts')).default,
  },
  {
    name: 'config',
    verbs: ['config'],
    load: async () => (await import('./config/index.ts')).default,
  },
  {
    name: 'settings',
    services: ['settings'],
    load: async () => (await import('./settings/index.ts')).default,
  },
  {
    name: 'groups',
    verbs: ['group'],
    services: ['groups'],
    routes: true,
    load: async () => (await import('./groups/index.ts')).default,
  },
  {
    name: 'clients',
    verbs: ['client'],
    services: ['clients'],
    routes: true,
    load: async () => (await import('./clients/index.ts')).default,
  },
  {
    name: 'secrets',
    verbs: ['secret'],
    services: ['secrets'],
    provides: ['flags', 'sections', 'secretsProviders'],
    routes: true,
    load: async () => (await import('./secrets/index.ts')).default,
  },
  {
    name: 'auth-in',
    services: ['callerAuths'],
    provides: ['flags'],
    load: async () => (await import('./auth-in/index.ts')).default,
  },
  {
    name: 'serve',
    verbs: ['serve'],
    load: async () => (await import('./serve/index.ts')).default,
  },
  {
    name: 'plugins',
    verbs: ['plugin'],
    services: ['plugins'],
    load: async () => (await import('./plugins/index.ts')).default,
  },
  {
    name: 'completion',
    verbs: ['completion', '__complete'],
    load: async () => (await import('./completion/index.ts')).default,
  },
  {
    name: 'version',
    verbs: ['version'],
    load: async () => (await import('./version/index.ts')).default,
  },
]
