import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Marked } from 'marked'
import { Type } from 'typebox'
import { callerAddress } from '../access/client-address.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { formatSeconds } from '../platform/clock.ts'
import type { App } from '../platform/http/server.ts'
import { escapeHtml } from '../platform/text/escape-html.ts'
import { compressText, type EncodedBody, sendEncoded } from '../web-assets/assets.ts'
import { API_REFERENCE_PATH, apiDescriptions } from './api-descriptions.ts'
import { type ApiReference, loadApiReference, type ReferencePage, referenceContents } from './api-reference.ts'
import { collectionRoutes } from './collections.ts'
import { type ContentsGroup, readContents } from './contents.ts'
import { loadEndpointPages } from './endpoints.ts'
import { docsPageHeaders, renderApiLinks, renderLayout, renderPageContents, renderSearchResults } from './layout.ts'
import { renderLlmsText } from './llms.ts'
import { parsePage, renderPage } from './markdown.ts'
import { once } from './once.ts'
import { type DocsPage, linkMarkdown, loadPages, OVERVIEW_FILE, type PageSet } from './pages.ts'
import { createSearchEntries, queryWords, searchSections } from './search.ts'
import { correctWords, readVocabulary } from './suggestions.ts'
import { vectorRoutes } from './vectors.ts'

/** The Markdown files and their table of contents. */
interface Site {
  newMarked: () => Marked
  pages: PageSet
  contents: ContentsGroup[]
}

interface CachedBody extends EncodedBody {
  etag: string
}

const REDIRECTS: Record<string, string> = {
  '/docs/reference/errors': '/docs/errors',
  '/docs/reference/errors.md': '/docs/errors.md',
  '/docs/guides': '/docs#guides',
  '/docs/reference': '/docs#reference',
}

/** A search takes up to 20 ms of CPU time, and anyone can search. */
const SEARCHES_PER_ADDRESS = { name: 'docs-searches', kind: 'tokens', limit: 40, seconds: 20 } as const

/**
 * Serves the documentation: the pages of docs/ as HTML and as Markdown, the search, the index for language models, and the API reference.
 * Files and the Markdown parser are loaded on the first request; rendered pages are cached until the server stops.
 */
export function docsRoutes(app: App, { config, limits, clock }: Pick<Context, 'config' | 'limits' | 'clock'>): void {
  const getSite = once(loadSite)
  const getReference = Object.fromEntries(
    apiDescriptions.map(({ slug }) => [slug, once(async () => loadApiReference((await getSite()).newMarked(), slug))]),
  )
  const getSearchIndex = once(async () => loadSearchIndex(await getSite()))
  const getLlmsText = once(async () => {
    const { pages, contents } = await getSite()
    return compressText(renderLlmsText(pages, contents, config.publicUrl?.replace(/\/+$/, '') ?? ''))
  })
  const bodiesByPath = new Map<string, CachedBody>()

  openApiRoutes(app)
  collectionRoutes(app)
  vectorRoutes(app)

  app.get('/docs', async (request, reply) => sendPath(request, reply, '/docs'))
  app.get('/docs.md', async (request, reply) => sendPath(request, reply, '/docs.md'))
  // Until version 0.1.0, the API reference was here, with the same parameter.
  app.get('/docs/', async ({ query }, reply) => {
    const api = readParameter(query, 'api')
    return reply.redirect(api ? `${API_REFERENCE_PATH}?api=${encodeURIComponent(api)}` : '/docs', 302)
  })

  app.get('/docs/api', async (_request, reply) => reply.redirect(API_REFERENCE_PATH, 302))
  app.get(API_REFERENCE_PATH, async (request, reply) => {
    const slug = readParameter(request.query, 'api')
    return sendReference(
      request,
      reply,
      Object.hasOwn(getReference, slug) ? slug : 'partner',
      ({ overview }) => overview,
    )
  })
  // Readers shorten the address of a tag to that of its API.
  for (const path of ['/docs/api/:api', '/docs/api/:api/'])
    app.get(path, async (request, reply) => {
      const { api } = request.params as { api: string }
      if (!Object.hasOwn(getReference, api)) return sendPath(request, reply, `/docs/api/${api}`)
      return reply.redirect(`${API_REFERENCE_PATH}?api=${api}`, 302)
    })
  app.get('/docs/api/:api/:tag', async (request, reply) => {
    const { api, tag } = request.params as { api: string; tag: string }
    return sendReference(request, reply, api, ({ tags }) => tags.find(({ path }) => path.endsWith(`/${tag}`)))
  })

  app.get('/docs/search', async (request, reply) => {
    const query = readParameter(request.query, 'q').slice(0, 200)
    const words = queryWords(query)
    if (words.length > 0) await limitSearches(request)
    const { contents } = await getSite()
    const { entries, vocabulary } = words.length > 0 ? await getSearchIndex() : { entries: [], vocabulary: [] }
    const results = searchSections(entries, query, words)
    const correction = results.length === 0 ? correctWords(vocabulary, entries, words)?.join(' ') : undefined
    const title = query ? `Search: ${query}` : 'Search'
    const body = renderSearchResults(query, words, results, correction)
    return sendHtml(request, reply, compressText(renderLayout({ title, body, contents, query })))
  })

  app.get('/docs/*', async (request, reply) => {
    const { '*': rest } = request.params as { '*': string }
    return sendPath(request, reply, `/docs/${rest}`)
  })

  app.get('/llms.txt', async (request, reply) => {
    const body = await getLlmsText()
    reply.type('text/plain; charset=utf-8').header('vary', 'accept-encoding')
    return sendEncoded(request, reply, body)
  })

  async function limitSearches({ ip }: FastifyRequest): Promise<void> {
    const { rejectedBy, retryAfter } = await limits.limiter.take(callerAddress(ip), [SEARCHES_PER_ADDRESS], clock.now())
    if (rejectedBy !== undefined)
      throw problem('RATE_LIMITED', `Too many searches. Try again in ${formatSeconds(retryAfter)}.`, { retryAfter })
  }

  async function sendReference(
    request: FastifyRequest,
    reply: FastifyReply,
    slug: string,
    choose: (reference: ApiReference) => ReferencePage | undefined,
  ): Promise<FastifyReply> {
    const reference = Object.hasOwn(getReference, slug) ? await getReference[slug]!() : undefined
    const page = reference && choose(reference)
    if (!page) {
      const [path] = request.url.split('?')
      return sendHtml(request, reply.status(404), compressText(renderNotFound(await getSite(), path!)))
    }
    let body = bodiesByPath.get(page.path)
    if (!body) {
      body = cachedBody(renderLayout({ ...page, contents: referenceContents(slug, reference), currentPath: page.path }))
      bodiesByPath.set(page.path, body)
    }
    return sendCached(request, reply, body)
  }

  async function sendPath(request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> {
    const redirect = REDIRECTS[path.replace(/\/+$/, '')]
    if (redirect) return reply.redirect(redirect, 302)
    const site = await getSite()
    const isMarkdown = path.endsWith('.md')
    const page = site.pages.byPath.get(isMarkdown ? path.slice(0, -'.md'.length) : path)
    if (!page) {
      const withoutSlash = path.replace(/\/+$/, '')
      if (site.pages.byPath.has(withoutSlash)) return reply.redirect(withoutSlash, 302)
      return sendHtml(request, reply.status(404), compressText(renderNotFound(site, path)))
    }
    let body = bodiesByPath.get(path)
    if (!body) {
      const text = isMarkdown ? linkMarkdown(site.pages, page) : renderDocsPage(site, page)
      body = cachedBody(text)
      bodiesByPath.set(path, body)
    }
    return sendCached(request, reply, body, isMarkdown)
  }
}

function cachedBody(text: string): CachedBody {
  const etag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  return Object.assign(compressText(text), { etag })
}

function sendCached(request: FastifyRequest, reply: FastifyReply, body: CachedBody, isMarkdown = false): FastifyReply {
  reply.headers({ etag: body.etag, 'cache-control': 'no-cache' })
  if (request.headers['if-none-match'] === body.etag) return reply.status(304).send()
  if (!isMarkdown) return sendHtml(request, reply, body)
  reply.type('text/markdown; charset=utf-8').header('vary', 'accept-encoding')
  return sendEncoded(request, reply, body)
}

/** Serves the OpenAPI descriptions. They are public, so pages of other websites can load them too. */
function openApiRoutes(app: App): void {
  const bodiesByName = new Map<string, EncodedBody>()
  app.get(
    '/docs/openapi/:name',
    { schema: { params: Type.Object({ name: Type.Enum(['partner.json', 'verification.json', 'catalogue.json']) }) } },
    async (request, reply) => {
      const { name } = request.params
      let body = bodiesByName.get(name)
      if (!body) {
        body = compressText(await readFile(new URL(`../../openapi/${name}`, import.meta.url), 'utf8'))
        bodiesByName.set(name, body)
      }
      reply
        .type('application/json; charset=utf-8')
        .headers({ 'access-control-allow-origin': '*', vary: 'accept-encoding' })
      return sendEncoded(request, reply, body)
    },
  )
}

async function loadSite(): Promise<Site> {
  const [{ Marked }, pages] = await Promise.all([import('marked'), loadPages()])
  const newMarked = () => new Marked()
  return { newMarked, pages, contents: readContents(newMarked(), pages) }
}

async function loadSearchIndex({ newMarked, pages }: Site) {
  const marked = newMarked()
  const endpointPages = await loadEndpointPages()
  const entries = endpointPages.flatMap((page) => createSearchEntries(page, page.sections))
  for (const page of pages.byPath.values()) {
    entries.push(...createSearchEntries(page, parsePage(marked, page).sections))
    // Parsing all pages takes too long to delay other requests until it is complete.
    await setImmediate()
  }
  return { entries, vocabulary: readVocabulary(entries) }
}

function renderDocsPage({ newMarked, pages, contents }: Site, page: DocsPage): string {
  const marked = newMarked()
  const parsed = parsePage(marked, page)
  const start = page.file === OVERVIEW_FILE ? renderApiLinks() : renderPageContents(parsed)
  const body = start + renderPage(marked, pages, page, parsed)
  return renderLayout({ title: page.title, body, contents, currentPath: page.path, markdownOf: page })
}

function renderNotFound({ contents }: Site, path: string): string {
  const body = `<p>The documentation has no page <code>${escapeHtml(path.slice(0, 200))}</code>. Search for it, or open the <a href="/docs">overview</a>.</p>`
  return renderLayout({ title: 'Page not found', body, contents })
}

function sendHtml(request: FastifyRequest, reply: FastifyReply, body: EncodedBody): FastifyReply {
  reply.type('text/html; charset=utf-8').headers({ ...docsPageHeaders, vary: 'accept-encoding' })
  return sendEncoded(request, reply, body)
}

/** Returns a query parameter; an empty text if it is missing, and the first value if it is repeated. */
function readParameter(query: unknown, name: string): string {
  const value = (query as Record<string, string | string[] | undefined>)[name]
  return (Array.isArray(value) ? value[0] : value) ?? ''
}
