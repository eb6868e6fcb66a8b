import { render } from 'preact'
import type { Api } from './api.ts'
import { byId } from './by-id.ts'
import { ClientsPage } from './clients-page.tsx'
import { SettingsPage } from './settings-page.tsx'
import { SkillsPage } from './skills-page.tsx'

/** The pages beside that of the workloads, by their place in the address. */
const PAGES = {
  '#clients': { title: 'Clients', Page: ClientsPage },
  '#skills': { title: 'Skills', Page: SkillsPage },
  '#settings': { title: 'Settings', Page: SettingsPage },
}

const PLACES = [
  ['#/', 'Workloads'] as const,
  ...Object.entries(PAGES).map(([place, { title }]) => [place, title] as const),
]

/** Shows the page that the address names, and in the navigation where one is. Returns its title; undefined: the workloads. */
export function showPage(api: Api, place: string): string | undefined {
  const shown = Object.hasOwn(PAGES, place) ? PAGES[place as keyof typeof PAGES] : undefined
  const at = shown ? place : '#/'
  render(
    <ul>
      {PLACES.map(([href, title]) => (
        <li key={href}>
          <a href={href} aria-current={href === at ? 'page' : undefined}>
            {title}
          </a>
        </li>
      ))}
    </ul>,
    byId('places'),
  )
  const node = byId('place')
  byId('main').hidden = shown !== undefined
  node.hidden = shown === undefined
  render(shown ? <shown.Page key={place} api={api} /> : null, node)
  return shown?.title
}
