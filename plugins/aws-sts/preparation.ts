import type { App } from '../../src/app.ts'
import type { Preparation } from '../../src/contracts/preparation.ts'
import { hasCallers } from '../../src/has-callers.ts'
import { failures } from './failures.ts'
import { awsStsOf } from './section.ts'
import { openSubjectTokens } from './subject-tokens.ts'

/** Fails before anything starts where the middleware would later; run configs stay as they are. */
export const awsStsPreparation = (app: App): Preparation => ({
  async complete(config) {
    const aws = awsStsOf(config)
    if (!aws) return config
    if (!hasCallers(config)) throw failures.aws_without_login({ name: config.name })
    const { createChooseRole } = await import('./choose-role.ts')
    createChooseRole(aws)
    await openSubjectTokens(app, config, aws)
    return config
  },
})
