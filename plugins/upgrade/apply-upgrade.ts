import type { App } from '../../src/app.ts'
import { instanceName, type RunConfig } from '../../src/contracts/run-config.ts'
import type { WaitOptions } from '../../src/contracts/runtime.ts'
import type { Ask } from '../../src/contracts/target.ts'
import type { Status } from '../../src/contracts/workload.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import { checkSections } from '../../src/sections.ts'
import { type Accepted, assertNotLowered, type VerificationMode } from '../image-verification/index.ts'
import { assertWorkloadName } from '../state/index.ts'
import { makeCandidateConfig } from './candidate-config.ts'
import type { UpgradeCheck } from './check-result.ts'
import { failures } from './failures.ts'

export interface ApplyOptions extends WaitOptions {
  /** Variables, whose values replace those of the workload. Fails with `secret_as_variable` for a secret. */
  readonly env?: Readonly<Record<string, string>>
  /** References `NAME,target=VARIABLE`; a variable that has a secret already keeps it. */
  readonly secrets?: readonly string[]
  /** What a missing or wrong signature leads to; by default what the workload was run with. */
  readonly verification?: VerificationMode | undefined
  /** The losses of verification that the user accepts. */
  readonly accepted?: Accepted
  /**
   * Consent to the mounts that the newer version wants and the workload was not given: all of them, or
   * those of this hash. Fails with `permissions_unaccepted`.
   */
  readonly acceptPermissions?: boolean | string | undefined
  /** Certificates (PEM) to trust while a package is built. */
  readonly caCert?: string | undefined
  /** How long the new server may take to respond, in milliseconds. */
  readonly timeoutMs?: number | undefined
  /** Whether to end before anything is fetched. */
  readonly dryRun?: boolean
  /** Asks the user at the terminal for what the newer version needs; undefined when there is no terminal. */
  readonly ask?: Ask | undefined
  /** Called with what would change; false ends the upgrade. */
  readonly agree?: ((check: UpgradeCheck) => Promise<boolean>) | undefined
}

export interface UpgradeResult {
  /** The check before the upgrade. */
  readonly check: UpgradeCheck
  /** `unchanged`: there is nothing to upgrade to. */
  readonly outcome: 'upgraded' | 'unchanged' | 'planned' | 'declined'
}

export const ANSWER_MS = 60_000

/** The statuses of workloads without a running server. */
const DOWN: ReadonlySet<Status | undefined> = new Set(['stopped', 'error', undefined])

/**
 * Replaces the running server by the newer version. After any failure the running server goes on. Fails with
 * `upgrade_failed` when the newer version did not start.
 */
export async function applyUpgrade(
  app: App,
  name: string,
  checkOne: (config: RunConfig) => Promise<UpgradeCheck>,
  options: ApplyOptions,
): Promise<UpgradeResult> {
  const store = await app.service('workloadStore')
  assertWorkloadName(name)
  await store.configs.get(name)
  const lock = await store.upgrades.tryLock(name)
  if (!lock) throw failures.upgrade_busy({ name })
  try {
    if (await store.upgrades.find(name)) await (await app.service('supervisor')).settleUpgrade(name)
    const from = await store.configs.get(name)
    await checkSections(app, from)
    assertNotLowered(from, options.verification, options.accepted)
    const check = await checkOne(from)
    if (check.status !== 'upgrade-available') return { check, outcome: 'unchanged' }
    assertNoSecret(check, options.env)
    const serves = !DOWN.has((await store.statuses.read(name))?.status)
    if (serves) assertCanShareHost(from)
    if (options.dryRun) return { check, outcome: 'planned' }
    if (options.agree && !(await options.agree(check))) return { check, outcome: 'declined' }
    for (const text of acceptanceWarnings(options.accepted)) app.log.warn(text, { workload: name })
    await replace(app, from, check, { ...options, serves })
    return { check, outcome: 'upgraded' }
  } finally {
    await lock.release()
  }
}

async function replace(
  app: App,
  from: RunConfig,
  check: UpgradeCheck,
  options: ApplyOptions & { serves: boolean },
): Promise<void> {
  const { name } = from
  const { serves, signal, report, timeoutMs = ANSWER_MS } = options
  const store = await app.service('workloadStore')
  let to: RunConfig | undefined
  try {
    to = await makeCandidateConfig(app, from, check, options)
    signal?.throwIfAborted()
    const supervisor = await app.service('supervisor')
    await supervisor.ensure()
    await store.upgrades.save(name, { from, to, wait_ms: timeoutMs })
    report?.(`Starting ${to.source ?? to.image}${serves ? ' beside the running one' : ' to check it'}`)
    await supervisor.upgrade(name)
  } catch (error) {
    // A supervisor that was killed at the end may have finished the upgrade.
    const now = await store.configs.find(name).catch(() => undefined)
    if (to && now && instanceName(now) === instanceName(to)) return
    throw explain(error, check, serves)
  }
}

/** Failures that the caller can act on are passed on unchanged. */
const UNCHANGED: ReadonlySet<number> = new Set([400, 404, 409, 499])
/** Failures of the new version, whatever their status. */
const OF_VERSION: ReadonlySet<string> = new Set(['upgrade_lost', 'image_unknown'])

function explain(error: unknown, check: UpgradeCheck, serves: boolean): unknown {
  if (!isFailure(error) || error.extra) return error
  if (UNCHANGED.has(error.status) && !OF_VERSION.has(error.code)) return error
  const { workload_name: name, current_image: from = '', candidate_image: to = '' } = check
  const { transport } = check.config_drift ?? {}
  const hint = transport
    ? `The new version speaks ${transport.to}, and the workload is set up for ${transport.from}: remove it and run it by its name again.`
    : error.hint
  return failures.upgrade_failed(
    { name, from, to, serves, reason: messageOf(error), ...(hint ? { hint } : {}) },
    { cause: error },
  )
}

const acceptanceWarnings = ({ lessVerification, changedSigner }: Accepted = {}): string[] => [
  ...(lessVerification ? ['Less verification of the image than before is accepted, as requested.'] : []),
  ...(changedSigner ? ['An image of another maker is accepted, as requested.'] : []),
]

function assertNoSecret({ env_var_drift }: UpgradeCheck, env: ApplyOptions['env'] = {}): void {
  const secret = env_var_drift?.added.find(one => one.secret && one.name in env)
  if (secret) throw failures.secret_as_variable({ variable: secret.name })
}

function assertCanShareHost({ name, publish = [] }: RunConfig): void {
  const fixed = publish.find(text => text.includes(':'))
  if (fixed) throw failures.upgrade_needs_stop({ name, port: fixed.split(':')[0] ?? fixed })
}
