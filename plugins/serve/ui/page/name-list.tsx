/** The names of those that a question is about. */
export const NameList = ({ names }: { names: readonly string[] }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached with the keyboard
  <ul class="names" tabIndex={0} aria-label="Workloads">
    {names.map(name => (
      <li key={name} class="name">
        {name}
      </li>
    ))}
  </ul>
)
