import { lstat, readlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { InstanceSpec } from '../../src/contracts/runtime.ts'
import { type ProcessLimits, withProcessLimits } from './limits/limit-support.ts'
import type { InstalledPackage } from './packages/installed-package.ts'
import { SECCOMP_FD, SOCKETS, starterCommand } from './starter.ts'

/** Where an instance's private home appears inside the sandbox. */
export const HOME = '/home/keelson'

/** What a program may need of /etc: names, certificates and the linker's list, but no keys and no settings. */
const ETC = [
  'alternatives',
  'ca-certificates',
  'gai.conf',
  'group',
  'host.conf',
  'hosts',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'mime.types',
  'nsswitch.conf',
  'passwd',
  'pki/tls/certs',
  'pki/ca-trust/extracted',
  'protocols',
  'resolv.conf',
  'services',
  'ssl/cert.pem',
  'ssl/certs',
  'ssl/openssl.cnf',
]

/**
 * Namespaces and file systems that every instance gets. The network is decided on elsewhere: see
 * `networkArguments`. For the case that we are root: capabilities are dropped, since bubblewrap would
 * leave them, and /proc is read-only, since root may change settings of the kernel there without any.
 */
export const SYSTEM_ARGUMENTS: readonly string[] = [
  '--cap-drop',
  'ALL',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-cgroup-try',
  '--proc',
  '/proc',
  '--remount-ro',
  '/proc',
  '--dev',
  '/dev',
  '--tmpfs',
  '/tmp',
]

/**
 * Forbids further user namespaces inside the sandbox. In one of those, a program would have capabilities and
 * could reach parts of the kernel that are otherwise closed. Needs bubblewrap 0.8 without the setuid bit.
 */
export const NO_NESTING: readonly string[] = ['--unshare-user', '--disable-userns']

/** The system's programs and libraries, read-only; /bin and the like as they are here, link or folder. */
export async function systemFolders(): Promise<string[]> {
  const args = ['--ro-bind', '/usr', '/usr']
  for (const folder of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    const found = await lstat(folder).catch(() => undefined)
    if (found?.isSymbolicLink()) args.push('--symlink', await readlink(folder), folder)
    else if (found) args.push('--ro-bind', folder, folder)
  }
  for (const name of ETC) args.push('--ro-bind-try', `/etc/${name}`, `/etc/${name}`)
  return args
}

/** Without a network of its own there is only loopback; an isolated instance also sees its sockets. */
const networkArguments = ({ network, isolatedNetwork }: InstanceSpec, sockets: string): string[] => [
  ...(isolatedNetwork ? ['--unshare-net', '--ro-bind', sockets, SOCKETS] : []),
  ...(!isolatedNetwork && network === 'none' ? ['--unshare-net'] : []),
]

/** Mounts over what the instance must not see; it cannot take them away without rights it does not have. */
const coverArguments = ({ hidden = [] }: InstanceSpec): string[] =>
  hidden.flatMap(({ target, directory }) =>
    directory ? ['--tmpfs', target, '--remount-ro', target] : ['--ro-bind', '/dev/null', target],
  )

/**
 * Returns the command line that runs an instance inside bubblewrap. bubblewrap starts the starter, which becomes
 * the package's program or starts it. The arguments hold paths only, since every user can read them. bubblewrap gets none of
 * the instance's variables, since it runs outside the sandbox.
 *
 * There is no `--new-session`: the instance is started in a session of its own, without a terminal,
 * and stays in one process group with bubblewrap, which is how it is stopped.
 */
export async function sandboxCommand(
  spec: InstanceSpec,
  options: {
    bubblewrap: { readonly program: string; readonly hardening: readonly string[] }
    installed: InstalledPackage
    home: string
    sockets: string
    limits: ProcessLimits
    /** Whether a seccomp filter is passed on its file descriptor. */
    filtered: boolean
  },
): Promise<string[]> {
  const { bubblewrap, installed, home, sockets, limits, filtered } = options
  const shown = [...new Set([dirname(process.execPath), ...installed.needs])].filter(
    path => !isSystemPath(path),
  )
  return [
    bubblewrap.program,
    ...(await systemFolders()),
    ...SYSTEM_ARGUMENTS,
    ...bubblewrap.hardening,
    ...(filtered ? ['--seccomp', String(SECCOMP_FD)] : []),
    ...shown.flatMap(path => ['--ro-bind', path, path]),
    '--ro-bind',
    installed.folder,
    installed.folder,
    '--bind',
    home,
    HOME,
    ...spec.mounts.flatMap(mount => [mount.readOnly ? '--ro-bind' : '--bind', mount.source, mount.target]),
    ...coverArguments(spec),
    ...networkArguments(spec, sockets),
    // An instance whose streams this process holds ends with it. Others run on for the next supervisor.
    ...(spec.stdio ? ['--die-with-parent'] : []),
    '--remount-ro',
    '/',
    '--chdir',
    HOME,
    '--',
    ...withProcessLimits(starterCommand(spec), limits),
  ]
}

/** Whether a path is below `/usr`, which every sandbox shows anyway. */
export const isSystemPath = (path: string): boolean => path === '/usr' || path.startsWith('/usr/')
