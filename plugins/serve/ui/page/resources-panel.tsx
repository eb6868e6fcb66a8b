import type { Resource, ResourceTemplate } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { OfferList } from './offer-list.tsx'
import { OfferPanel } from './offer-panel.tsx'
import { Description, Opening } from './opening.tsx'
import type { PanelProps } from './panel.ts'
import { ReadResource } from './read-resource.tsx'
import { expandTemplate, variablesOf } from './uri-template.ts'

interface Offer {
  readonly resources: readonly Resource[]
  readonly templates: readonly ResourceTemplate[]
}

/** The resources that the server of a workload offers, and templates of more. */
export const Resources = (panel: PanelProps) => (
  <div class="tools">
    <OfferPanel<Offer> {...{ panel, path: 'resources', title: 'resources' }}>
      {({ resources, templates }) => (
        <>
          {resources.length + templates.length === 0 && <p class="empty">This server offers no resources.</p>}
          {templates.length > 0 && (
            <>
              <h3>Templates</h3>
              <OfferList items={templates} title="templates" textOf={textOf}>
                {template => (
                  <TemplateItem {...{ api: panel.api, workload: panel.workload.name, template }} />
                )}
              </OfferList>
            </>
          )}
          {resources.length > 0 && (
            <>
              <h3>Resources</h3>
              <OfferList items={resources} title="resources" textOf={textOf}>
                {resource => (
                  <ResourceItem {...{ api: panel.api, workload: panel.workload.name, resource }} />
                )}
              </OfferList>
            </>
          )}
        </>
      )}
    </OfferPanel>
  </div>
)

const textOf = (one: Resource | ResourceTemplate): string => Object.values(one).join(' ')

const ResourceItem = ({ api, workload, resource }: { api: Api; workload: string; resource: Resource }) => {
  const { uri, name, title, description, mimeType, size } = resource
  const facts = [mimeType, size === undefined ? undefined : `${size.toLocaleString()} bytes`].filter(Boolean)
  return (
    <Opening name={name} brief={title ?? uri}>
      {() => (
        <>
          <Description text={description} />
          <p>
            <code class="link">{uri}</code> <span class="soft">{facts.join(', ')}</span>
          </p>
          <ReadResource {...{ api, workload, label: `Read ${name}`, variables: [], uriOf: () => uri }} />
        </>
      )}
    </Opening>
  )
}

const TemplateItem = (props: { api: Api; workload: string; template: ResourceTemplate }) => {
  const { api, workload, template } = props
  const { name, title, description, mimeType, uriTemplate } = template
  const variables = variablesOf(uriTemplate).map(variable => ({ name: variable, required: true }))
  const uriOf = (values: Record<string, string>) => expandTemplate(uriTemplate, values)
  return (
    <Opening name={name} brief={title ?? uriTemplate}>
      {() => (
        <>
          <Description text={description} />
          <p>
            <code class="link">{uriTemplate}</code> <span class="soft">{mimeType}</span>
          </p>
          <ReadResource {...{ api, workload, label: `Variables of ${name}`, variables, uriOf }} />
        </>
      )}
    </Opening>
  )
}
