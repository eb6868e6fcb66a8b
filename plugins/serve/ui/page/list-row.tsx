import { Component } from 'preact'
import type { Workload } from '../page-types.d.ts'
import { placeOf } from './place-of.ts'
import { StatusBadge } from './status.tsx'

interface Props {
  readonly workload: Workload
  /** Whether it is shown beside the list. */
  readonly isSelected: boolean
  /** Whether the actions on several are about it. */
  readonly isMarked: boolean
  readonly hasUpgrade: boolean
  readonly onMark: (name: string, isMarked: boolean) => void
}

/** A workload in the list. It is drawn again only when something of it has changed, since there may be hundreds. */
export class ListRow extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    const { workload, isSelected, isMarked, hasUpgrade, onMark } = this.props
    return (
      next.workload !== workload ||
      next.isSelected !== isSelected ||
      next.isMarked !== isMarked ||
      next.hasUpgrade !== hasUpgrade ||
      next.onMark !== onMark
    )
  }

  override render({ workload, isSelected, isMarked, hasUpgrade, onMark }: Props) {
    const { name, package: what, status, no_sandbox } = workload
    return (
      <li class={isMarked ? 'marked' : undefined}>
        <label class="mark">
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={isMarked}
            onChange={({ currentTarget }) => onMark(name, currentTarget.checked)}
          />
        </label>
        <a href={placeOf(name)} aria-current={isSelected ? 'true' : undefined}>
          <span class="name">{name}</span>
          <StatusBadge status={status} />
          <span class="what">{what}</span>
          {no_sandbox && <span class="tag">No sandbox</span>}
          {hasUpgrade && <span class="tag">Upgrade</span>}
        </a>
      </li>
    )
  }
}
