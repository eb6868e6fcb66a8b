import * as t from 'typanion'

const optional = t.isOptional(t.isString())

/** Who signed a skill, as lock files and records keep it (`SkillSigner`). */
export const signerSchema = t.isObject(
  {
    signerIdentity: t.isString(),
    certIssuer: t.isString(),
    repositoryUri: optional,
    repositoryRef: optional,
    runnerEnvironment: optional,
    sigstoreUrl: optional,
    provisional: t.isOptional(t.isBoolean()),
  },
  { extra: t.isUnknown() },
)
