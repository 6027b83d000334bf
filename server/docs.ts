import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import fastify from 'fastify'
import { Type } from 'typebox'
import type { App } from './platform/http/server.ts'
import { randomToken } from './platform/ids.ts'

const apiDescriptions = [
  { title: 'Partner API', slug: 'partner', url: 'openapi/partner.json' },
  { title: 'Verification sessions', slug: 'verification', url: 'openapi/verification.json' },
  { title: 'Skill catalogue', slug: 'catalogue', url: 'openapi/catalogue.json' },
]

interface ApiReference {
  page: string
  script: Buffer
  policy: string
}

/** Serves the API reference, rendered from openapi/. The page and its script are large, so they are loaded on the first request. */
export function docsRoutes(app: App): void {
  let loadingReference: Promise<ApiReference> | undefined
  const getReference = () => {
    loadingReference ??= loadReference()
    return loadingReference
  }

  app.get('/docs', async (_request, reply) => reply.redirect('/docs/', 302))

  app.get('/docs/', async (_request, reply) => {
    const { page, policy } = await getReference()
    return reply
      .type('text/html; charset=utf-8')
      .headers({ 'content-security-policy': policy, 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY' })
      .send(page)
  })

  app.get('/docs/js/scalar.js', async (_request, reply) => {
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
      const openApiJson = await readFile(new URL(`../openapi/${request.params.name}`, import.meta.url))
      return reply.type('application/json; charset=utf-8').send(openApiJson)
    },
  )
}

async function loadReference(): Promise<ApiReference> {
  const nonce = randomToken(16)
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const referenceApp = fastify()
  await referenceApp.register(scalar, {
    routePrefix: '/docs',
    configuration: {
      sources: apiDescriptions,
      pageTitle: 'Attestry API reference',
      nonce,
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
    } as object,
  })
  const page = await referenceApp.inject('/docs/')
  const script = await referenceApp.inject('/docs/js/scalar.js')
  await referenceApp.close()
  return {
    page: page.body,
    script: await promisify(gzip)(script.rawPayload),
    policy: `default-src 'none'; script-src 'self' 'nonce-${nonce}'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'`,
  }
}
