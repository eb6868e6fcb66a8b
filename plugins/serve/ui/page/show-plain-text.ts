import { options, type VNode } from 'preact'
import { plainText } from './plain-text.ts'

/**
 * Everything that a component shows is cleaned here, once: texts and the attributes of elements. No component has to
 * know which text is a stranger's.
 */
options.vnode = (vnode: VNode) => {
  const { type, props } = vnode
  if (typeof props === 'string')
    vnode.props = plainText(props) as never // a text between elements has no type
  else if (typeof type === 'string') cleanAttributes(props as Record<string, unknown>)
}

function cleanAttributes(props: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'string' && name !== 'children') props[name] = plainText(value)
  }
}
