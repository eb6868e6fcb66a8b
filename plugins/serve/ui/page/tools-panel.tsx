import type { Tool } from '../page-types.d.ts'
import { OfferList } from './offer-list.tsx'
import { OfferPanel } from './offer-panel.tsx'
import type { PanelProps } from './panel.ts'
import { ToolItem } from './tool-item.tsx'

const textOf = ({ name, title = '', description = '' }: Tool): string => `${name} ${title} ${description}`

/** The tools that the server of a workload offers. */
export const Tools = (panel: PanelProps) => (
  <div class="tools">
    <OfferPanel<{ tools: readonly Tool[] }> {...{ panel, path: 'tools', title: 'tools' }}>
      {({ tools }) =>
        tools.length === 0 ? (
          <p class="empty">This server offers no tools.</p>
        ) : (
          <OfferList items={tools} title="tools" textOf={textOf}>
            {tool => <ToolItem {...{ api: panel.api, workload: panel.workload.name, tool }} />}
          </OfferList>
        )
      }
    </OfferPanel>
  </div>
)
