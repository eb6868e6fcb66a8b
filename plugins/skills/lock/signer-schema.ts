import * as t from 'typanion'

const optional = t.isOptional(t.isString())

/** Checks the signer of a skill in lock files and records (`SkillSigner`). */
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
