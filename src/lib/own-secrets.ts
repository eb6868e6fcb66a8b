/** Whether a variable is for keelson itself and may hold a secret: nothing that it starts needs it. */
export const isOwnSecret = (variable: string): boolean =>
  /^(KEELSON_SECRET|OP_SERVICE_ACCOUNT_TOKEN$)/i.test(variable)

/** The environment without such variables. */
export const withoutOwnSecrets = <V>(env: Readonly<Record<string, V>>): Record<string, V> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !isOwnSecret(name)))
