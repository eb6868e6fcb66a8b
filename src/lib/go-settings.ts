import { runTool, type ToolOptions } from './run-tool.ts'
import { toolEnvironment } from './tool-environment.ts'

/** Where Go is and where its modules come from, as the user has set it up. */
export interface GoSettings {
  /** Folder of the toolchain. */
  readonly root: string
  /** Addresses of the module proxies. */
  readonly proxies: readonly string[]
  /**
   * Variables that hold Go to this toolchain and these proxies: no version control programs, no C
   * compiler, no flags (`-toolexec`) and no settings from elsewhere.
   */
  readonly env: Readonly<Record<string, string>>
}

const FIXED = {
  CGO_ENABLED: '0',
  GO111MODULE: 'on',
  GOENV: 'off',
  GOFLAGS: '',
  GOTELEMETRY: 'off',
  GOTOOLCHAIN: 'local',
  GOVCS: '*:off',
}

/** Asks Go itself; undefined when there is none. */
export async function readGoSettings(
  options: Pick<ToolOptions, 'signal'> = {},
): Promise<GoSettings | undefined> {
  const asked = ['GOROOT', 'GOPROXY', 'GOSUMDB', 'GONOSUMDB']
  const env = { ...toolEnvironment(process.env, 'go'), GOTOOLCHAIN: 'local' }
  const { status, stdout } = await runTool(['go', 'env', '-json', ...asked], { ...options, env })
  if (status !== 'ok') return undefined
  const {
    GOROOT = '',
    GOPROXY = '',
    GOSUMDB = '',
    GONOSUMDB = '',
  } = JSON.parse(stdout) as Record<string, string>
  const proxies = GOPROXY.split(/[,|]/)
    .map(text => text.trim())
    .filter(text => /^https?:\/\//.test(text) && URL.canParse(text))
  return {
    root: GOROOT,
    proxies,
    env: { ...FIXED, GOROOT, GOPROXY: [...proxies, 'off'].join(','), GOSUMDB, GONOSUMDB },
  }
}
