import type { PluginEntry } from '../src/plugin.ts'
import { workloadCommands } from './workloads/commands/by-verb.ts'

/**
 * The built-in plugins. What stands here is known without loading any code: a verb loads only its
 * own plugin, a service or contribution only the plugins that say they have it.
 */
export const builtins: readonly PluginEntry[] = [
  {
    name: 'workloads',
    topic: 'Workloads',
    verbs: {
      run: 'run an MCP server as a workload',
      list: 'list workloads',
      ls: '',
      ps: '',
      status: 'show a workload in detail',
      inspect: 'print all there is about a workload, as JSON',
      stop: 'stop workloads; they can be started again',
      start: 'start workloads that are not running',
      restart: 'stop workloads and start them again',
      edit: 'change a workload, with flags or in your editor',
      rename: 'give a workload another name',
      clone: 'run a copy of a workload under another name',
      rm: 'stop and remove workloads, without asking',
      stats: 'show how much CPU and memory running servers use',
      logs: 'show what a server, or its proxy, printed',
      export: 'write the run config of a workload to a file, or print it',
    },
    commands: workloadCommands,
    services: ['workloads'],
    provides: ['targets', 'sections'],
    routes: true,
    load: async () => (await import('./workloads/index.ts')).default,
  },
  {
    name: 'state',
    services: ['workloadStore'],
    load: async () => (await import('./state/index.ts')).default,
  },
  {
    name: 'proxy',
    services: ['proxies'],
    provides: ['flags', 'sections'],
    flagsOf: ['run', 'serve', 'proxy'],
    flags: async () => {
      const { proxyFlags, bodyFlags, protocolFlags, trustFlags } = await import('./proxy/flags.ts')
      return [proxyFlags, bodyFlags, protocolFlags, trustFlags]
    },
    load: async () => (await import('./proxy/index.ts')).default,
  },
  {
    name: 'tools',
    topic: 'Workloads',
    verbs: {
      tools: 'show and select the tools of a workload',
    },
    services: ['toolControls'],
    provides: ['flags', 'sections', 'middlewares', 'supervisorOperations'],
    flagsOf: ['run', 'proxy'],
    flags: async () => [(await import('./tools/flags.ts')).toolsFlags],
    load: async () => (await import('./tools/index.ts')).default,
  },
  {
    name: 'tunnel-ngrok',
    provides: ['tunnels'],
    load: async () => (await import('./tunnel-ngrok/index.ts')).default,
  },
  {
    name: 'tunnel-ssh',
    provides: ['tunnels'],
    load: async () => (await import('./tunnel-ssh/index.ts')).default,
  },
  {
    name: 'hidden-files',
    services: ['hiddenFiles'],
    provides: ['flags', 'sections'],
    flagsOf: ['run'],
    flags: async () => [(await import('./hidden-files/flags.ts')).hiddenFilesFlags],
    load: async () => (await import('./hidden-files/index.ts')).default,
  },
  {
    name: 'egress',
    topic: 'Access',
    verbs: {
      egress: 'ask what an isolated workload may reach, or run an egress proxy',
    },
    services: ['egress'],
    provides: ['flags', 'sections'],
    flagsOf: ['run'],
    flags: async () => [(await import('./egress/flags.ts')).egressFlags],
    routes: true,
    load: async () => (await import('./egress/index.ts')).default,
  },
  {
    name: 'supervisor',
    topic: 'Settings',
    verbs: {
      supervisor: 'see or end the background process that hosts workloads',
    },
    services: ['supervisor'],
    load: async () => (await import('./supervisor/index.ts')).default,
  },
  {
    name: 'recipes',
    topic: 'Workloads',
    verbs: {
      build: 'build the image of a package without running it',
    },
    services: ['recipes'],
    provides: ['flags', 'sections'],
    flagsOf: ['run'],
    flags: async () => [(await import('./recipes/flags.ts')).packageFlags],
    load: async () => (await import('./recipes/index.ts')).default,
  },
  {
    name: 'runtimes',
    topic: 'Settings',
    verbs: {
      runtime: 'see which runtimes work here',
    },
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
    services: ['npmInstall'],
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
    provides: ['flags', 'sections'],
    flagsOf: ['run'],
    flags: async () => [(await import('./image-verification/flags.ts')).verificationFlags],
    load: async () => (await import('./image-verification/index.ts')).default,
  },
  {
    name: 'mcp',
    topic: 'Servers and skills',
    verbs: {
      mcp: 'see what a server offers, and call its tools',
    },
    services: ['serverTools'],
    routes: true,
    load: async () => (await import('./mcp/index.ts')).default,
  },
  {
    name: 'registry',
    topic: 'Servers and skills',
    verbs: {
      registry: 'browse the registry of servers, or use another one',
      search: 'search the registry for servers',
    },
    services: ['registry'],
    provides: ['flags', 'sections', 'targets'],
    flagsOf: ['run'],
    flags: async () => [(await import('./registry/flags.ts')).permissionFlags],
    routes: true,
    load: async () => (await import('./registry/index.ts')).default,
  },
  {
    name: 'registry-login',
    services: ['registryTokens'],
    load: async () => (await import('./registry-login/index.ts')).default,
  },
  {
    name: 'skill-artifacts',
    verbs: {
      skill: '',
    },
    services: ['skillBuilds'],
    routes: true,
    load: async () => (await import('./skill-artifacts/index.ts')).default,
  },
  {
    name: 'skill-sources',
    verbs: {
      skill: '',
    },
    services: ['skillSources'],
    routes: true,
    load: async () => (await import('./skill-sources/index.ts')).default,
  },
  {
    name: 'skills',
    topic: 'Servers and skills',
    verbs: {
      skill: 'install and publish skills for AI clients',
    },
    services: ['skills'],
    routes: true,
    load: async () => (await import('./skills/index.ts')).default,
  },
  {
    name: 'upgrade',
    topic: 'Workloads',
    verbs: {
      upgrade: 'find newer versions of workloads, and switch to them',
    },
    services: ['upgrades'],
    routes: true,
    load: async () => (await import('./upgrade/index.ts')).default,
  },
  {
    name: 'tui',
    topic: 'Workloads',
    verbs: {
      tui: 'see and steer workloads on the whole terminal',
    },
    load: async () => (await import('./tui/index.ts')).default,
  },
  {
    name: 'doctor',
    topic: 'Settings',
    verbs: {
      doctor: 'check what works on this machine, and say what to do',
    },
    load: async () => (await import('./doctor/index.ts')).default,
  },
  {
    name: 'import',
    topic: 'Workloads',
    verbs: {
      import: 'make workloads of what another tool has configured',
    },
    services: ['imports'],
    load: async () => (await import('./import/index.ts')).default,
  },
  {
    name: 'kubernetes',
    services: ['kubernetesExport'],
    load: async () => (await import('./kubernetes/index.ts')).default,
  },
  {
    name: 'prune',
    topic: 'Settings',
    verbs: {
      prune: 'delete images, packages and logs that nothing uses',
    },
    services: ['prune'],
    load: async () => (await import('./prune/index.ts')).default,
  },
  {
    name: 'config-command',
    topic: 'Settings',
    verbs: {
      config: 'change settings',
    },
    load: async () => (await import('./config-command/index.ts')).default,
  },
  {
    name: 'settings',
    services: ['settings'],
    load: async () => (await import('./settings/index.ts')).default,
  },
  {
    name: 'callers',
    services: ['callerToken'],
    load: async () => (await import('./callers/index.ts')).default,
  },
  {
    name: 'endpoint',
    topic: 'Clients',
    verbs: {
      endpoint: 'put several servers behind one URL',
    },
    services: ['endpoints'],
    routes: true,
    provides: ['sections', 'runtimes', 'middlewares'],
    load: async () => (await import('./endpoint/index.ts')).default,
  },
  {
    name: 'groups',
    topic: 'Clients',
    verbs: {
      group: 'make groups of workloads',
    },
    services: ['groups'],
    routes: true,
    load: async () => (await import('./groups/index.ts')).default,
  },
  {
    name: 'clients',
    topic: 'Clients',
    verbs: {
      client: 'let AI clients on this machine use your workloads',
    },
    services: ['clients'],
    provides: ['hooks'],
    routes: true,
    load: async () => (await import('./clients/index.ts')).default,
  },
  {
    name: 'secrets',
    topic: 'Access',
    verbs: {
      secret: 'keep tokens and keys for servers',
    },
    services: ['secrets'],
    provides: ['flags', 'sections', 'secretsProviders'],
    flagsOf: ['run'],
    flags: async () => [(await import('./secrets/flags.ts')).secretFlags],
    routes: true,
    load: async () => (await import('./secrets/index.ts')).default,
  },
  {
    name: 'auth-in',
    services: ['callerAuths'],
    provides: ['flags', 'sections', 'preparations', 'middlewares', 'hooks'],
    flagsOf: ['run', 'serve', 'proxy'],
    flags: async () => [(await import('./auth-in/flags.ts')).oidcFlags],
    load: async () => (await import('./auth-in/index.ts')).default,
  },
  {
    name: 'auth-out',
    topic: 'Access',
    verbs: {
      auth: 'log in to remote servers',
    },
    services: ['oauthEngine', 'remoteLogins', 'loginMemory'],
    provides: ['flags', 'sections', 'preparations', 'middlewares', 'hooks', 'supervisorOperations'],
    flagsOf: ['run', 'proxy'],
    flags: async () => [(await import('./auth-out/flags.ts')).remoteAuthFlags],
    routes: true,
    load: async () => (await import('./auth-out/index.ts')).default,
  },
  {
    name: 'token-exchange',
    provides: ['flags', 'sections', 'preparations', 'middlewares', 'hooks'],
    flagsOf: ['run', 'proxy'],
    flags: async () => [(await import('./token-exchange/flags.ts')).tokenExchangeFlags],
    load: async () => (await import('./token-exchange/index.ts')).default,
  },
  {
    name: 'aws-sts',
    provides: ['sections', 'preparations', 'middlewares'],
    load: async () => (await import('./aws-sts/index.ts')).default,
  },
  {
    name: 'auth-server',
    services: ['authServers'],
    provides: ['flags', 'sections', 'preparations', 'middlewares', 'hooks'],
    flagsOf: ['run', 'serve', 'proxy'],
    flags: async () => {
      const { authServerFlags, credentialFlags } = await import('./auth-server/flags.ts')
      return [
        authServerFlags,
        credentialFlags,
        (await import('./auth-server/swap/flags.ts')).upstreamTokenFlags,
      ]
    },
    load: async () => (await import('./auth-server/index.ts')).default,
  },
  {
    name: 'rate-limit',
    provides: ['flags', 'sections', 'preparations', 'middlewares'],
    flagsOf: ['run', 'proxy'],
    flags: async () => [(await import('./rate-limit/flags.ts')).rateLimitFlags],
    load: async () => (await import('./rate-limit/index.ts')).default,
  },
  {
    name: 'authz',
    topic: 'Access',
    verbs: {
      authz: 'try and check policies on who may call what',
    },
    provides: ['flags', 'sections', 'preparations', 'middlewares'],
    flagsOf: ['run'],
    flags: async () => [(await import('./authz/flags.ts')).authzFlags],
    load: async () => (await import('./authz/index.ts')).default,
  },
  {
    name: 'audit',
    topic: 'Access',
    verbs: {
      audit: 'check audit logs',
    },
    services: ['auditLogs', 'auditRecords'],
    provides: ['flags', 'sections', 'preparations', 'middlewares'],
    flagsOf: ['run', 'proxy'],
    flags: async () => [(await import('./audit/flags.ts')).auditFlags],
    load: async () => (await import('./audit/index.ts')).default,
  },
  {
    name: 'telemetry',
    services: ['logExports', 'metricsListeners', 'telemetries'],
    provides: ['flags', 'sections', 'preparations', 'middlewares', 'hooks'],
    flagsOf: ['run', 'proxy'],
    flags: async () => [(await import('./telemetry/flags.ts')).telemetryFlags],
    load: async () => (await import('./telemetry/index.ts')).default,
  },
  {
    name: 'webhooks',
    provides: ['flags', 'sections', 'preparations', 'middlewares'],
    flagsOf: ['run'],
    flags: async () => [(await import('./webhooks/flags.ts')).webhookFlags],
    load: async () => (await import('./webhooks/index.ts')).default,
  },
  {
    name: 'proxy-command',
    topic: 'Clients',
    verbs: {
      proxy: 'put a proxy in front of an MCP server, without a workload',
    },
    services: ['workloadBridge'],
    load: async () => (await import('./proxy-command/index.ts')).default,
  },
  {
    name: 'serve',
    topic: 'Clients',
    verbs: {
      serve: 'serve the HTTP API until interrupted',
    },
    load: async () => (await import('./serve/index.ts')).default,
  },
  {
    name: 'plugin-manager',
    topic: 'Settings',
    verbs: {
      plugin: 'add third-party plugins',
    },
    services: ['plugins'],
    load: async () => (await import('./plugin-manager/index.ts')).default,
  },
  {
    name: 'completion',
    topic: 'Settings',
    verbs: {
      completion: 'print a completion script for a shell',
      __complete: '',
    },
    load: async () => (await import('./completion/index.ts')).default,
  },
  {
    name: 'manual',
    topic: 'Settings',
    verbs: {
      man: 'print the manual page of all commands',
    },
    load: async () => (await import('./manual/index.ts')).default,
  },
  {
    name: 'version',
    topic: 'Settings',
    verbs: {
      version: 'show the version',
    },
    load: async () => (await import('./version/index.ts')).default,
  },
]
