import type { Probe } from '../../src/contracts/runtime.ts'
import { capitalise } from '../../src/lib/capitalise.ts'
import { findOnPath } from '../../src/lib/find-on-path.ts'
import { npmCommand } from '../../src/lib/newest-version.ts'
import type { Bubblewrap } from './find-bubblewrap.ts'
import { describeMissingLimits, type LimitSupport, withDefaultLimits } from './limits/limit-support.ts'
import { seccompFilter } from './seccomp/seccomp-filter.ts'

/** Whether any kind of package can be installed and run here, and what would not be enforced. */
export async function probeHost(bubblewrap: Bubblewrap, support: LimitSupport, path: string): Promise<Probe> {
  if (process.platform === 'win32') {
    return {
      ok: false,
      problem: 'it needs process groups, which Windows does not have.',
      hint: 'Use docker or podman.',
    }
  }
  const npm = npmCommand()[0] !== 'npm' || (await findOnPath('npm', path)) !== undefined
  const others = await Promise.all(['uv', 'python3', 'go'].map(tool => findOnPath(tool, path)))
  if (!npm && others.every(found => found === undefined)) {
    return {
      ok: false,
      problem: 'none of npm, uv, python3 and go is installed.',
      hint: 'Install npm to run npx:// packages.',
    }
  }
  const lacking = describeMissingLimits(support, withDefaultLimits({}))
  return {
    ok: true,
    version: `node ${process.version}${bubblewrap.works ? `, bubblewrap ${bubblewrap.version}` : ''}`,
    warnings: [
      ...(bubblewrap.works && !seccompFilter()
        ? [`System calls are not filtered on this processor (${process.arch}).`]
        : []),
      ...(bubblewrap.works && bubblewrap.hardening.length === 0
        ? [
            'This bubblewrap cannot forbid user namespaces inside the sandbox; version 0.8 or later without the setuid bit can.',
          ]
        : []),
      ...(lacking ? [capitalise(lacking)] : []),
      ...(npm ? [] : ['npm is not installed: npx:// packages cannot be run.']),
    ],
  }
}
