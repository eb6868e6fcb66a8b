/** Whether a variable is for keelson itself and may hold a secret: nothing that it starts needs it. */
export const isKeelsonSecret = (variable: string): boolean =>
  /^(KEELSON_SECRET|(KEELSON_REMOTE_AUTH_BEARER_TOKEN|SVC_REMOTE_OAUTH_CLIENT_SECRET|OP_SERVICE_ACCOUNT_TOKEN)$)/i.test(
    variable,
  )

/** The environment without such variables. */
export const withoutKeelsonSecrets = <V>(env: Readonly<Record<string, V>>): Record<string, V> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !isKeelsonSecret(name)))
