import { failures } from '../../src/errors.ts'
import { parseLabel } from '../../src/lib/labels.ts'
import type { Section } from '../../src/plugin.ts'

/** What docker and podman take as the name of a container. */
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/

/** Refuses names and labels that an engine would refuse, or read as others, wherever the run config came from. */
export const instanceSection: Section = {
  check({ container_name: name, container_labels: labels = {} }) {
    if (name && !NAME.test(name)) {
      throw failures.usage({
        text: `container_name is ${JSON.stringify(name)}; it takes letters, digits, ".", "_" and "-", and begins with a letter or digit.`,
      })
    }
    const wrong = Object.entries(labels).find(([key, value]) => {
      const read = parseLabel(`${key}=${value}`)
      return read?.[0] !== key
    })
    if (wrong) {
      throw failures.usage({
        text: `container_labels has ${JSON.stringify(wrong[0])}: ${JSON.stringify(wrong[1])}, which is not a label.`,
        hint: 'Keys and values are letters, digits, ".", "_" and "-"; a key may have a prefix such as example.com/.',
      })
    }
  },
}
