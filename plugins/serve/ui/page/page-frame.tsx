import type { ComponentChildren } from 'preact'

/** A page beside that of the workloads: its heading, what went wrong, and what it shows. */
export const PageFrame = (props: {
  title: string
  lead: string
  problem: string
  isLoaded: boolean
  children: ComponentChildren
}) => (
  <section class="place" aria-labelledby="place-title">
    <h2 id="place-title" tabIndex={-1}>
      {props.title}
    </h2>
    <p class="soft">{props.lead}</p>
    {props.problem && (
      <p class="problem" role="alert">
        {props.problem}
      </p>
    )}
    {props.isLoaded ? props.children : !props.problem && <p class="soft">Loading…</p>}
  </section>
)
