import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import fastify from 'fastify'
import { Type } from 'typebox'
import type { App } from '../platform/http/server.ts'
import { compressText, type EncodedBody, sendEncoded } from '../web-assets/assets.ts'

/** Path of the API reference. `?api=SLUG` selects one of the APIs. */
export const API_REFERENCE_PATH = '/docs/api/'

/** Path of the page that sends signed TEST requests, web/try-request. */
export const TRY_REQUEST_PATH = '/docs/try'

export const apiDescriptions = [
  { title: 'Partner API', slug: 'partner', url: '/docs/openapi/partner.json' },
  { title: 'Verification sessions', slug: 'verification', url: '/docs/openapi/verification.json' },
  { title: 'Skill catalogue', slug: 'catalogue', url: '/docs/openapi/catalogue.json' },
]

interface ApiReference {
  page: string
  script: Buffer
  policy: string
}

/** Serves the API reference, rendered from openapi/. The page and its script are large, so they are loaded on the first request. */
export function apiReferenceRoutes(app: App): void {
  let loadingReference: Promise<ApiReference> | undefined
  const getReference = () => {
    loadingReference ??= loadReference()
    return loadingReference
  }

  /** The OpenAPI descriptions. The largest has 1 MB, but 70 KB if it is compressed. */
  const bodiesByName = new Map<string, EncodedBody>()

  app.get('/docs/api', async (_request, reply) => reply.redirect(API_REFERENCE_PATH, 302))

  app.get(API_REFERENCE_PATH, async (_request, reply) => {
    const { page, policy } = await getReference()
    return reply
      .type('text/html; charset=utf-8')
      .headers({ 'content-security-policy': policy, 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY' })
      .send(page)
  })

  app.get(`${API_REFERENCE_PATH}js/scalar.js`, async (_request, reply) => {
    const { script } = await getReference()
    return reply
      .type('text/javascript; charset=utf-8')
      .headers({ 'content-encoding': 'gzip', 'cache-control': 'public, max-age=86400' })
      .send(script)
  })

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
      // The page is sandboxed and therefore has no origin, so that the browser treats its requests as those of another site.
      reply
        .type('application/json; charset=utf-8')
        .headers({ 'access-control-allow-origin': '*', vary: 'accept-encoding' })
      return sendEncoded(request, reply, body)
    },
  )
}

/**
 * The script of the reference comes from a third party. In a sandbox without `allow-same-origin` it can neither read the cookies of the
 * console nor call its API. Links open in a new tab, which is not sandboxed.
 */
const SANDBOX = 'sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads'

/** A bar above the reference, whose own layout has a property for the height of such a bar. */
const BAR = `<style>
:root{--scalar-custom-header-height:44px}
.bar{position:sticky;top:0;z-index:20;box-sizing:border-box;height:44px;padding:10px 16px;background:Canvas;border-bottom:1px solid GrayText;color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}
.bar a{color:CanvasText}
</style>
<nav class="bar" aria-label="Documentation"><a href="/docs">Guides and reference</a></nav>
`

/** A sandboxed page has no storage, and reading `localStorage` throws an error. The reference only stores display settings there. */
const STORAGE_SCRIPT = `
for (const name of ['localStorage', 'sessionStorage']) {
  const items = new Map()
  Object.defineProperty(window, name, { value: {
    getItem: (key) => items.get(String(key)) ?? null,
    setItem: (key, value) => void items.set(String(key), String(value)),
    removeItem: (key) => void items.delete(String(key)),
    clear: () => items.clear(),
    key: (index) => [...items.keys()][index] ?? null,
    get length() { return items.size },
  } })
}`

async function loadReference(): Promise<ApiReference> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const referenceApp = fastify()
  await referenceApp.register(scalar, {
    routePrefix: '/docs/api',
    configuration: {
      sources: apiDescriptions,
      pageTitle: 'Attestry API reference',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      hideTestRequestButton: true,
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
    } as object,
  })
  const pageResponse = await referenceApp.inject(API_REFERENCE_PATH)
  const script = await referenceApp.inject(`${API_REFERENCE_PATH}js/scalar.js`)
  await referenceApp.close()
  const page = pageResponse.body
    .replace('</head>', () => `<script>${STORAGE_SCRIPT}</script></head>`)
    .replace('<div id="app">', () => `${BAR}<div id="app">`)
  return { page, script: await promisify(gzip)(script.rawPayload), policy: contentSecurityPolicy(page) }
}

/** Returns the policy for a page: its inline scripts are allowed by their hashes, and no others. */
function contentSecurityPolicy(page: string): string {
  const inlineScripts = [...page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(([, text]) => text!)
  const scriptHashes = inlineScripts.map((text) => `'sha256-${hash('sha256', text, 'base64')}'`)
  return [
    "default-src 'none'",
    `script-src 'self' ${scriptHashes.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    SANDBOX,
  ].join('; ')
}
