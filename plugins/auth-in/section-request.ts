import { assertSentBefore, sectionRequest } from '../../src/http/section-request.ts'
import { isEmpty } from '../../src/lib/is-empty.ts'
import { described, object, optional, type TypeOf, text, texts } from '../../src/lib/schema.ts'
import { failures } from './failures.ts'
import { type OidcConfig, readOidcConfig } from './oidc-config.ts'

const shown = {
  issuer: text,
  audience: text,
  jwks_url: text,
  introspection_url: text,
  client_id: text,
  client_secret: described(text, 'Always empty in responses'),
  scopes: optional(texts),
  allow: optional(described(texts, 'Who may call, as `claim=value`')),
  resource_url: optional(text),
}

const asked = object({
  issuer: optional(text),
  audience: optional(text),
  jwks_url: optional(text),
  introspection_url: optional(text),
  client_id: optional(text),
  client_secret: optional(text),
  scopes: optional(texts),
  allow: optional(texts),
  resource_url: optional(text),
})

/** What requests say about the login of callers. A body that does not mention it keeps the login as it is. */
export const oidcRequest = sectionRequest({
  body: {
    oidc: optional(asked),
    oidc_config: optional(object({})),
    jwks_auth_token_file: optional(text),
  },
  details: { oidc: object(shown, { additionalProperties: false }) },
  toOptions: ({ oidc = {} }) => ({
    'oidc-issuer': oidc.issuer,
    'oidc-audience': oidc.audience,
    'oidc-jwks-url': oidc.jwks_url,
    'oidc-introspection-url': oidc.introspection_url,
    'oidc-client-id': oidc.client_id,
    'oidc-client-secret': oidc.client_secret,
    'oidc-scopes': oidc.scopes,
    'oidc-allow': oidc.allow,
    'resource-url': oidc.resource_url,
  }),
  toMembers(
    { oidc, oidc_config: exported, jwks_auth_token_file: exportedFile },
    { oidc_config: before, jwks_auth_token_file: file },
  ) {
    const tokenFile = exportedFile === undefined ? {} : { jwks_auth_token_file: exportedFile }
    if (!isEmpty(exported)) {
      if (!isEmpty(oidc))
        throw failures.auth_config_invalid({ problem: 'both oidc and oidc_config say how callers log in' })
      const read = readOidcConfig(exported) ?? {}
      assertFiles({ ...read, ...tokenFile }, { ...before, jwks_auth_token_file: file })
      return { oidc_config: read, ...tokenFile }
    }
    if (exportedFile)
      throw failures.auth_config_invalid({ problem: 'jwks_auth_token_file needs oidc_config' })
    if (!oidc) return exported === undefined || !before ? {} : { oidc_config: {} }
    const isNone = Object.values(oidc).every(value => !value || value.length === 0)
    if (!isNone) return { oidc_config: hiddenOf(before ?? {}, oidc) }
    return { ...(before ? { oidc_config: {} } : {}), ...(file ? { jwks_auth_token_file: '' } : {}) }
  },
  toDetails: ({ oidc_config }) => ({ oidc: toDetails(oidc_config ?? {}) }),
  keptAlways: ['oidc_config', 'jwks_auth_token_file'],
})

interface Files extends OidcConfig {
  readonly jwks_auth_token_file?: string | undefined
}

/** What is in the files goes where the request says. */
function assertFiles(asked: Files, before: Files): void {
  const toIssuer = ({ issuer, jwksurl }: Files) => jwksurl || issuer
  const tokenFile = (of: Files) => of.jwks_auth_token_file || of.authTokenFile
  assertSentBefore(
    { path: asked.clientSecretFile, receiver: asked.introspectionURL },
    { path: before.clientSecretFile, receiver: before.introspectionURL },
  )
  assertSentBefore(
    { path: tokenFile(asked), receiver: toIssuer(asked) },
    { path: tokenFile(before), receiver: toIssuer(before) },
  )
}

/** What the details do not show. The secret stays with the client and the endpoint that it is for. */
function hiddenOf(before: OidcConfig, oidc: TypeOf<typeof asked>): OidcConfig {
  const { allowPrivateIP, insecureAllowHTTP, accessTokensOnly, cacertPath, authTokenFile } = before
  const { clientSecret, clientSecretFile } = before
  const { client_id = '', introspection_url = '' } = oidc
  const isSameClient =
    !oidc.client_secret &&
    client_id === (before.clientID ?? '') &&
    introspection_url === (before.introspectionURL ?? '')
  const kept = {
    ...{ allowPrivateIP, insecureAllowHTTP, accessTokensOnly, cacertPath, authTokenFile },
    ...(isSameClient ? { clientSecret, clientSecretFile } : {}),
  }
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined))
}

const toDetails = (oidc: OidcConfig): TypeOf<ReturnType<typeof object<typeof shown>>> => ({
  issuer: oidc.issuer ?? '',
  audience: oidc.audience ?? '',
  jwks_url: oidc.jwksurl ?? '',
  introspection_url: oidc.introspectionURL ?? '',
  client_id: oidc.clientID ?? '',
  client_secret: '',
  ...(oidc.scopes?.length ? { scopes: oidc.scopes } : {}),
  ...(oidc.allow?.length ? { allow: oidc.allow } : {}),
  ...(oidc.resourceURL ? { resource_url: oidc.resourceURL } : {}),
})
