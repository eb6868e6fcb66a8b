/** What the keys do, for the bottom line and the help. */
export interface KeyHint {
  readonly key: string
  /** In the bottom line. */
  readonly does: string
  /** In the help; absent: as in the bottom line. */
  readonly means?: string
}

export const LIST_KEYS: readonly KeyHint[] = [
  { key: 's', does: 'stop', means: 'stop the workload, or start it' },
  { key: 'r', does: 'restart', means: 'stop the workload and start it again' },
  { key: 'd', does: 'remove', means: 'remove the workload, after a question' },
  { key: 'tab', does: 'next', means: 'show the next panel: log, proxy log, tools, denials' },
  { key: 'enter', does: 'open', means: 'go into the panel; esc leaves it' },
  { key: '/', does: 'search', means: 'show only lines of the panel that contain a text' },
  { key: 'u', does: 'URL', means: 'copy the URL that clients connect to' },
  { key: 'c', does: 'config', means: 'copy what to paste into the configuration of a client' },
  { key: '?', does: 'help' },
  { key: 'q', does: 'quit' },
]

export const LOG_KEYS: readonly KeyHint[] = [
  { key: 'up/down', does: 'scroll', means: 'scroll; new lines are shown at the end of the log' },
  { key: '/', does: 'search' },
  { key: 'esc', does: 'back' },
]

export const TOOL_KEYS: readonly KeyHint[] = [
  { key: 'up/down', does: 'choose' },
  { key: 'enter', does: 'fill in and call' },
  { key: '/', does: 'search' },
  { key: 'esc', does: 'back' },
]

export const FORM_KEYS: readonly KeyHint[] = [
  { key: 'up/down', does: 'field' },
  { key: 'enter', does: 'call' },
  { key: 'pgup/pgdn', does: 'scroll' },
  { key: 'esc', does: 'cancel or back' },
]

export const DENIAL_KEYS: readonly KeyHint[] = [
  { key: 'up/down', does: 'choose' },
  { key: '/', does: 'search' },
  { key: 'a', does: 'allow', means: 'let the workload reach it from now on; its server is restarted' },
  { key: 'esc', does: 'back' },
]

export const helpLines = (): string[] =>
  [
    ['On the list', [{ key: 'up/down', does: 'choose a workload' }, ...LIST_KEYS]] as const,
    ['In a log', LOG_KEYS] as const,
    ['In the tools', TOOL_KEYS] as const,
    ['In a call', FORM_KEYS] as const,
    ['In the denials', DENIAL_KEYS] as const,
  ].flatMap(([title, keys]) => [
    title,
    ...keys.map(({ key, does, means = does }: KeyHint) => `  ${key.padEnd(10)}  ${means}`),
  ])
