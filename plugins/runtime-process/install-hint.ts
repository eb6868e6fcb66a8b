import { readFile } from 'node:fs/promises'

/** The package is called bubblewrap everywhere. */
const INSTALLERS: Readonly<Record<string, string>> = {
  alpine: 'apk add',
  arch: 'pacman -S',
  debian: 'apt install',
  fedora: 'dnf install',
  rhel: 'dnf install',
  suse: 'zypper install',
  ubuntu: 'apt install',
}

/** Says how to install bubblewrap on this system, by os-release(5). */
export async function installHint(file = '/etc/os-release'): Promise<string> {
  if (process.platform !== 'linux') return 'Install docker or podman.'
  const text = await readFile(file, 'utf8').catch(() => '')
  const named = [...text.matchAll(/^ID(?:_LIKE)?=["']?([^"'\n]*)/gm)].flatMap(([, ids = '']) =>
    ids.split(' '),
  )
  const installer = named.map(id => INSTALLERS[id]).find(found => found !== undefined)
  return `Install bubblewrap${installer ? ` (\`${installer} bubblewrap\`)` : ''}, docker or podman.`
}

/** For a bubblewrap that is installed but fails. */
export const KERNEL_HINT =
  'Allow this user to create user namespaces (kernel settings kernel.unprivileged_userns_clone and ' +
  'kernel.apparmor_restrict_unprivileged_userns), or install docker or podman.'
