const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/**
 * Loads `conf`, and takes back the signal handlers that it brings: they end the process at the first
 * signal, in the middle of whatever it is asked to finish.
 */
export async function loadConf(): Promise<typeof import('conf')['default']> {
  const before = new Map(SIGNALS.map(signal => [signal, process.listeners(signal)]))
  const { default: Conf } = await import('conf')
  for (const signal of SIGNALS) {
    for (const listener of process.listeners(signal)) {
      if (!before.get(signal)?.includes(listener)) process.off(signal, listener)
    }
  }
  return Conf
}
