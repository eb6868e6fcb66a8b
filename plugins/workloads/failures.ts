import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  target_unknown: {
    status: 400,
    exit: 2,
    text: (d: { argument: string; problem: string; hint?: string | undefined }) =>
      `"${d.argument}" cannot be run: ${d.problem}`,
    hint: d => d.hint ?? 'Give an image, a package (npx://, uvx://, go://), a URL, or --from-config FILE.',
  },
  instance_name_taken: {
    status: 409,
    text: (d: { name: string; owner: string }) =>
      `The server of the workload "${d.owner}" is called "${d.name}".`,
    hint: 'Choose another name with --name.',
  },
  images_unsupported: {
    status: 400,
    text: (d: { runtime: string; argument: string }) =>
      `The ${d.runtime} runtime cannot run the image ${d.argument}: it runs packages only.`,
    hint: 'Start docker or podman, or name a package (npx://, uvx://, go://).',
  },
  volume_missing: {
    status: 400,
    text: (d: { path: string }) =>
      `The path ${d.path}, which --volume or the run config mounts, does not exist.`,
    hint: 'Create it first, or correct the path in front of the colon.',
  },
  start_failed: {
    status: 500,
    text: (d: { name: string; reason: string }) => `The workload "${d.name}" did not start: ${d.reason}`,
  },
  edit_failed: {
    status: 422,
    text: (d: {
      name: string
      reason: string
      /** Why the old version does not start any more. */
      again?: string | undefined
      hint?: string | undefined
    }) =>
      `"${d.name}" did not start with the change${d.again ? `, nor without it (${d.again})` : ' and runs as before'}: ${d.reason}`,
    hint: d => d.hint,
  },
  destination_not_allowed: {
    status: 409,
    text: (d: { name: string; where: string }) =>
      `The permission profile of "${d.name}" was not changed: it allows ${d.where} already, or something else than its lists of hosts and ports denies it.`,
    hint: d =>
      `\`keelson egress explain ${d.name} ${d.where}\` shows what decides. Addresses of this machine and of private networks have to be named in the profile by hand.`,
  },
  rename_unfinished: {
    status: 409,
    text: (d: { from: string; to: string }) =>
      `"${d.to}" is the same workload as "${d.from}": an earlier rename did not finish.`,
    hint: d =>
      `Finish it with \`keelson rename ${d.from} ${d.to}\`, or undo it with \`keelson rm ${d.to}\` and \`keelson start ${d.from}\`.`,
  },
  flag_not_edited: {
    status: 400,
    exit: 2,
    text: (d: { flag: string; name: string }) =>
      `--${d.flag} says how a workload is made, so it cannot be changed.`,
    hint: d =>
      d.flag === 'name'
        ? `Use \`keelson rename ${d.name} NEW\`.`
        : `Use \`keelson edit ${d.name}\` without a flag for what the run config holds, or run the server anew.`,
  },
  editor_failed: {
    status: 500,
    text: (d: { editor: string; problem: string }) => `The editor "${d.editor}" failed: ${d.problem}`,
    hint: 'Name another one in the variable EDITOR, or give flags: `keelson edit NAME -e KEY=VALUE`.',
  },
  from_config_alone: {
    status: 400,
    exit: 2,
    text: (d: { others: readonly string[] }) =>
      `--from-config goes with --foreground, --runtime, --no-sandbox, --ca-cert, --debug and the flags that name files with credentials only, not with ${d.others.join(', ')}.`,
    hint: 'Edit the file instead; nothing is merged into it.',
  },
  no_sandbox_unconfirmed: {
    status: 400,
    exit: 2,
    text: (d: { path: string }) => `${d.path} asks to run without a sandbox (no_sandbox).`,
    hint: 'Remove that member from the file, or add --no-sandbox: the server can then read, change and reach everything that you can.',
  },
  bulk_choice: {
    status: 400,
    text: () => 'Give either names or a group.',
  },
  bulk_group_unknown: {
    status: 400,
    text: (d: { group: string }) => `There is no group "${d.group}".`,
  },
  streams_exhausted: {
    status: 429,
    text: (d: { most: number }) => `${d.most} event streams are open already.`,
    hint: 'Close a stream that is no longer read.',
  },
  proxy_log_missing: {
    status: 404,
    text: (d: { name: string }) => `The proxy of "${d.name}" has written no log yet.`,
  },
  interrupted: {
    status: 499,
    text: () => 'Interrupted; changes that had begun were undone.',
  },
  logs_missing: {
    status: 404,
    text: (d: { name: string }) => `The workload "${d.name}" has no log of its own.`,
    hint: d => `What its proxy did is shown by \`keelson logs ${d.name} --proxy\`.`,
  },
  logs_untimed: {
    status: 400,
    text: (d: { name: string; runtime: string }) =>
      `The ${d.runtime} runtime of "${d.name}" does not know when a line was printed.`,
    hint: 'Omit --since and --timestamps; `--tail N` prints the last lines.',
  },
})
