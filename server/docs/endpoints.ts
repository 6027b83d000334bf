import { apiDescriptions, type Operation, operationsWithTag, readApiDescription, tagPath } from './api-descriptions.ts'
import type { Section } from './markdown.ts'

/** A page of the API reference, with a section for each endpoint. */
export interface EndpointPage {
  title: string
  path: string
  sections: Section[]
}

/** Loads the endpoints of the OpenAPI descriptions for the search. */
export async function loadEndpointPages(): Promise<EndpointPage[]> {
  const pages = await Promise.all(
    apiDescriptions.map(async ({ title, slug }) => {
      const description = await readApiDescription(slug)
      return description.tags.map(({ name }) => ({
        title,
        path: tagPath(slug, name),
        sections: operationsWithTag(description, name).calls.map(({ method, path, operation }) =>
          createSection(method, path, operation),
        ),
      }))
    }),
  )
  return pages.flat()
}

function createSection(method: string, path: string, { summary, description = '', operationId }: Operation): Section {
  return {
    // As in the guides, without the part that all paths of an API have.
    heading: `${method} ${path.replace(/^\/api(\/v1(\/partner)?)?/, '')}`,
    anchor: operationId,
    // The search shows plain text.
    text: `${summary}. ${description.replaceAll('`', '')} ${path} ${operationId}`,
  }
}
