import { readFile } from 'node:fs/promises'
import { API_REFERENCE_PATH, apiDescriptions } from './api-reference.ts'
import { headingId } from './heading-id.ts'
import type { Section } from './markdown.ts'

interface Operation {
  summary: string
  description?: string
  operationId: string
  tags: string[]
}

/** An API, with a section for each endpoint. The anchors are those of the API reference. */
export interface EndpointPage {
  title: string
  path: string
  sections: Section[]
}

/** Loads the endpoints of the OpenAPI descriptions for the search. */
export async function loadEndpointPages(): Promise<EndpointPage[]> {
  return Promise.all(
    apiDescriptions.map(async ({ title, slug }) => {
      const text = await readFile(new URL(`../../openapi/${slug}.json`, import.meta.url), 'utf8')
      const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, Operation>> }
      const sections = Object.entries(paths).flatMap(([path, operations]) =>
        Object.entries(operations).map(([method, operation]) => createSection(slug, method, path, operation)),
      )
      return { title, path: API_REFERENCE_PATH, sections }
    }),
  )
}

function createSection(slug: string, methodLower: string, path: string, operation: Operation): Section {
  const method = methodLower.toUpperCase()
  const { summary, description = '', operationId, tags } = operation
  return {
    // As in the guides, without the part that all paths of an API have.
    heading: `${method} ${path.replace(/^\/api(\/v1(\/partner)?)?/, '')}`,
    anchor: `${slug}/tag/${headingId(tags[0]!)}/${method}${path}`,
    text: `${summary}. ${description} ${path} ${operationId}`,
  }
}
