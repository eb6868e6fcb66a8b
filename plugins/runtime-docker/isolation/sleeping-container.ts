/**
 * Arguments of `create` for a container that only sleeps and has no rights: it holds a network, or waits for
 * programs that are run in it. `more` are the arguments for its network, labels and limits.
 */
export const sleepingContainer = (options: {
  name: string
  image: string
  more: readonly string[]
}): string[] => [
  'create',
  `--name=${options.name}`,
  '--pull=never',
  '--interactive=false',
  '--cap-drop=ALL',
  '--security-opt=no-new-privileges',
  '--read-only',
  '--user=65534:65534',
  '--stop-signal=SIGKILL',
  '--restart=no',
  ...options.more,
  '--entrypoint=sleep',
  '--',
  options.image,
  'infinity',
]
