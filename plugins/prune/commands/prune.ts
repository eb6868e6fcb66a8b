import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { formatSize } from '../../../src/lib/format-size.ts'
import type { Unused } from '../service.ts'

const flags = {
  yes: flag.boolean('do not ask', { short: 'y' }),
  'dry-run': flag.boolean('only show what would be deleted'),
  format: flag.choice('output format', ['text', 'json'], 'text'),
}

export class PruneCommand extends BaseCommand {
  static override paths = [['prune']]
  static override usage = BaseCommand.Usage({
    category: 'Program',
    description: 'delete images, packages and logs that nothing uses',
    details:
      'It deletes images that keelson has built from packages and no container uses, packages that the process runtime ' +
      'has installed and no workload uses, and logs of workloads that are gone. What is needed again is made again. ' +
      'Images that you named with `keelson build --tag` stay.',
    examples: [['See what would be deleted', '$0 prune --dry-run']],
  })
  static override flags = flags
  static override hints = {
    f: 'Use --yes.',
    force: 'Use --yes.',
    a: 'Everything that nothing uses is meant. Omit the flag.',
    all: 'Everything that nothing uses is meant. Omit the flag.',
    volumes: 'There are no volumes. Omit the flag.',
  }

  override async execute(): Promise<void> {
    const { yes, 'dry-run': dry, format } = this.values(flags)
    const prune = await this.app.service('prune')
    const unused = await prune.find()
    if (unused.length === 0 || dry) return this.#show(unused, format)
    if (!yes) {
      this.#show(unused, 'text')
      if (!(await this.confirm(`Delete ${sizeOf(unused)}?`))) return
    }
    const removed = await prune.remove(unused)
    if (format === 'json') return this.printJson(removed)
    this.print(`${sizeOf(removed)} deleted.`)
  }

  #show(unused: readonly Unused[], format: string): void {
    this.printList(unused, {
      format,
      empty: 'There is nothing to delete.',
      columns: [
        { title: 'KIND', of: row => row.kind },
        { title: 'SIZE', of: row => formatSize(row.bytes) },
        { title: 'RUNTIME', of: row => row.runtime ?? '-' },
        { title: 'NAME', of: row => row.name, cut: 'middle' },
      ],
    })
  }
}

/** `3 things (1.2 GiB)`; layers that images share count for each of them. */
function sizeOf(unused: readonly Unused[]): string {
  const count = `${unused.length} ${unused.length === 1 ? 'thing' : 'things'}`
  return `${count} (${formatSize(unused.reduce((sum, { bytes }) => sum + bytes, 0))})`
}
