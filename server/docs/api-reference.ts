import type { Marked } from 'marked'
import { escapeHtml } from '../platform/text/escape-html.ts'
import {
  API_REFERENCE_PATH,
  apiDescriptions,
  type Content,
  type Operation,
  operationsWithTag,
  type Parameter,
  type Response,
  readApiDescription,
  TRY_REQUEST_PATH,
  tagPath,
} from './api-descriptions.ts'
import { renderFields, resolve, type SchemaContext, typeText } from './schema-fields.ts'

export interface ReferencePage {
  path: string
  title: string
  /** Escaped markup. */
  body: string
}

/** The pages of an API: an overview and a page for each tag. */
export interface ApiReference {
  overview: ReferencePage
  tags: ReferencePage[]
}

/** Loads the OpenAPI description of an API and renders its reference. HTML in the texts is shown as text. */
export async function loadApiReference(marked: Marked, slug: string): Promise<ApiReference> {
  const description = await readApiDescription(slug)
  marked.use({ renderer: { html: ({ text }) => escapeHtml(text) } })
  const context: ReferenceContext = {
    slug,
    description,
    renderInline: (markdown) => marked.parseInline(markdown, { async: false }),
    renderBlocks: (markdown) => marked.parse(markdown, { async: false }),
  }
  return {
    overview: {
      path: `${API_REFERENCE_PATH}?api=${slug}`,
      title: description.info.title,
      body: renderOverview(context),
    },
    tags: description.tags.map(({ name, description: text }) => ({
      path: tagPath(slug, name),
      title: name,
      body: renderTag(context, name, text ?? ''),
    })),
  }
}

interface ReferenceContext extends SchemaContext {
  slug: string
  renderBlocks(markdown: string): string
}

function renderOverview({ slug, description, renderBlocks }: ReferenceContext): string {
  const { url } = apiDescriptions.find((each) => each.slug === slug)!
  const otherApis = apiDescriptions
    .filter((each) => each.slug !== slug)
    .map((each) => `<a href="${API_REFERENCE_PATH}?api=${each.slug}">${escapeHtml(each.title)}</a>`)
  const groups = description.tags.map(({ name }) => {
    const { calls, webhooks } = operationsWithTag(description, name)
    const items = [...calls, ...webhooks].map(
      ({ operation: { operationId, summary } }) =>
        `<li><a href="${tagPath(slug, name)}#${operationId}">${escapeHtml(summary)}</a></li>`,
    )
    return `<h3><a href="${tagPath(slug, name)}">${escapeHtml(name)}</a></h3>\n<ul>${items.join('\n')}</ul>\n`
  })
  return `<p>Other APIs: ${otherApis.join(', ')}. <a href="${url}">OpenAPI description</a> · <a href="${TRY_REQUEST_PATH}?api=${slug}">Send a test request</a></p>
${renderBlocks(description.info.description)}
<h2 id="operations">Operations</h2>
${groups.join('')}`
}

function renderTag(context: ReferenceContext, tag: string, text: string): string {
  const { description, renderInline } = context
  const { calls, webhooks } = operationsWithTag(description, tag)
  const links = [...calls, ...webhooks].map(
    ({ operation: { operationId, summary } }) => `<li><a href="#${operationId}">${escapeHtml(summary)}</a></li>`,
  )
  const intro = text ? `<p>${renderInline(text)}</p>\n` : ''
  const toc = links.length > 2 ? `<nav class="toc" aria-label="On this page"><ul>${links.join('\n')}</ul></nav>\n` : ''
  return (
    intro +
    toc +
    calls.map(({ method, path, operation }) => renderOperation(context, operation, `${method} ${path}`)).join('') +
    webhooks.map(({ operation }) => renderOperation(context, operation, 'POST to your endpoint')).join('')
  )
}

function renderOperation(context: ReferenceContext, operation: Operation, call: string): string {
  const { slug, description, renderBlocks } = context
  const { operationId, summary, description: text = '', parameters = [], requestBody, responses = {} } = operation
  const samples = operation['x-codeSamples'] ?? []
  const tryLink = call.includes(' /')
    ? `<p><a href="${TRY_REQUEST_PATH}?api=${slug}&amp;operation=${operationId}">Send a test request<span hidden>: ${escapeHtml(summary)}</span></a></p>\n`
    : ''
  return `<h2 id="${operationId}">${escapeHtml(summary)}</h2>
<p class="call"><code>${escapeHtml(call)}</code></p>
${renderBlocks(text)}${tryLink}${renderParameters(
  context,
  parameters.map((each) => resolve<Parameter>(description, each)),
)}${requestBody ? `<h3>Body</h3>\n${renderContent(context, requestBody.content)}` : ''}${renderResponses(
  context,
  Object.entries(responses).map(([status, each]) => [status, resolve<Response>(description, each)]),
)}${samples.length > 0 ? '<h3>Code</h3>\n' : ''}${samples
  .map(({ label, source }) => folded(escapeHtml(label), codeBlock(source)))
  .join('')}`
}

function renderParameters({ description, renderInline }: ReferenceContext, parameters: Parameter[]): string {
  if (parameters.length === 0) return ''
  const items = parameters.map(
    ({ name, in: place, required, description: text, schema }) =>
      `<li><code>${escapeHtml(name)}</code> <span class="type">${escapeHtml(place)}, ${escapeHtml(
        schema ? typeText(description, schema) : 'string',
      )}${required ? '' : ', optional'}</span>${text ? `<div>${renderInline(text)}</div>` : ''}</li>\n`,
  )
  return `<h3>Parameters</h3>\n<ul class="fields">\n${items.join('')}</ul>\n`
}

/** Returns the responses: those of success with their fields, and errors with their codes. */
function renderResponses(context: ReferenceContext, responses: [status: string, response: Response][]): string {
  if (responses.length === 0) return ''
  const items = responses.map(([status, { description, content = {} }]) => {
    const body =
      status < '300' ? renderContent(context, content) : `${context.renderBlocks(description)}${renderExample(content)}`
    const title = `<code>${status}</code> ${status < '300' ? context.renderInline(description) : errorNames(description)}`
    return body ? folded(title, body) : `<p>${title}</p>\n`
  })
  return `<h3>Responses</h3>\n${items.join('')}`
}

/** Returns the error codes that a description lists, or the description. */
function errorNames(description: string): string {
  const codes = [...description.matchAll(/^- `([A-Z_]+)`/gm)].map(([, code]) => code!)
  return codes.length > 0
    ? codes.map((code) => `<code>${code}</code>`).join(' ')
    : escapeHtml(description.split('\n')[0]!)
}

function renderContent(context: ReferenceContext, content: Record<string, Content>): string {
  return Object.entries(content)
    .map(([mediaType, { schema }]) => {
      const fields = schema ? renderFields(context, schema) : ''
      const type = mediaType === 'application/json' ? '' : `<p><code>${escapeHtml(mediaType)}</code></p>\n`
      return type + fields
    })
    .join('')
    .concat(renderExample(content))
}

function renderExample(content: Record<string, Content>): string {
  const example = content['application/json']?.example
  return example === undefined ? '' : folded('Example', codeBlock(JSON.stringify(example, null, 2)))
}

function folded(title: string, body: string): string {
  return `<details><summary>${title}</summary>\n${body}</details>\n`
}

function codeBlock(text: string): string {
  return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`
}

/** Returns the pages of an API that are listed beside the text. */
export function referenceContents(slug: string, { overview, tags }: ApiReference) {
  const { title } = apiDescriptions.find((each) => each.slug === slug)!
  return [
    { title, entries: [{ page: { ...overview, title: 'Overview' } }, ...tags.map((page) => ({ page }))] },
    {
      title: 'Other APIs',
      entries: apiDescriptions
        .filter((each) => each.slug !== slug)
        .map((each) => ({ page: { path: `${API_REFERENCE_PATH}?api=${each.slug}`, title: each.title } })),
    },
    { title: 'Documentation', entries: [{ page: { path: '/docs', title: 'Guides and reference' } }] },
  ]
}
