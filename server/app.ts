import { guardPartnerRoutes } from './access/front-door.ts'
import { catalogueAdminRoutes } from './catalogue/admin-routes.ts'
import { publicSkillRoutes, selectedSkillRoutes } from './catalogue/public-routes.ts'
import { skillRequestRoutes, skillRoutes } from './catalogue/routes.ts'
import { limitVisitors } from './catalogue/visitor-limits.ts'
import type { Context } from './context.ts'
import { docsRoutes } from './docs.ts'
import { lookupRoutes } from './places/routes.ts'
import { readBody } from './platform/body.ts'
import { CATALOGUE_BASE, PARTNER_BASE, VERIFICATION_BASE } from './platform/envelope.ts'
import { healthRoutes } from './platform/health.ts'
import { type App, createHttp, validateRequest } from './platform/http.ts'
import { parseJson } from './platform/json.ts'

/** Which APIs there are, and the routes of each: the route table. */
export const apis: Record<
  'partner' | 'verification' | 'catalogue',
  { base: string; routes: (app: App, context: Context) => void }
> = {
  partner: {
    base: PARTNER_BASE,
    routes(app, context) {
      guardPartnerRoutes(app, context)
      skillRoutes(app, context)
      skillRequestRoutes(app, context)
      lookupRoutes(app, context)
    },
  },
  verification: {
    base: VERIFICATION_BASE,
    routes(app) {
      readJsonBodies(app)
    },
  },
  catalogue: {
    base: CATALOGUE_BASE,
    routes(app, context) {
      limitVisitors(app, context)
      readJsonBodies(app)
      publicSkillRoutes(app, context)
      selectedSkillRoutes(app, context)
      catalogueAdminRoutes(app, context)
    },
  },
}

export function buildApp(context: Context, draining: () => boolean = () => false): App {
  const app = createHttp({ log: context.log, metrics: context.metrics, trustProxy: context.config.trustProxy })
  for (const { base, routes } of Object.values(apis)) {
    app.register(async (scope) => routes(scope as App, context), { prefix: base })
  }
  app.register(async (scope) => {
    healthRoutes(scope as App, { db: context.db, metrics: context.metrics, draining })
    scope.get('/', async (_request, reply) => reply.redirect('/docs/', 302))
    docsRoutes(scope as App)
    scope.addHook('preValidation', async (request) => validateRequest(request, request.routeOptions.config))
  })
  return app
}

function readJsonBodies(app: App) {
  app.addHook('preParsing', async (request) => {
    if (!request.is404) request.rawBody = await readBody(request.raw)
  })
  app.addHook('preValidation', async (request) => {
    if (request.is404) return
    if (request.rawBody.length > 0) request.body = parseJson(request.rawBody)
    validateRequest(request, request.routeOptions.config)
  })
}
