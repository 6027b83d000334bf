import fastify from 'fastify'
import type { TSchema } from 'typebox'
import { apis } from '../../server/app.ts'
import { candidateRoutes } from '../../server/campaigns/candidate-page/routes.ts'
import { consoleRoutes } from '../../server/console/routes.ts'
import type { Context } from '../../server/context.ts'
import type { App } from '../../server/platform/http/server.ts'
import type { RequestSchema } from '../../server/platform/http/validation.ts'

export interface RoutePart {
  route: string
  part: 'params' | 'querystring' | 'body'
  schema: TSchema
}

/** Returns the schemas of all requests of the published APIs, the console and the candidate page. Needs no database. */
export function listRequestSchemas(): RoutePart[] {
  const context = {} as Context
  const parts: RoutePart[] = []
  const registrations: ((app: App) => void)[] = [
    ...Object.values(apis).map(
      ({ routes }) =>
        (app: App) =>
          routes(app, context),
    ),
    (app) => consoleRoutes(app, context, {} as never, () => {}),
    (app) => candidateRoutes(app, context),
  ]
  for (const register of registrations) {
    const app = fastify() as unknown as App
    if (!app.hasRequestDecorator('rawBody')) app.decorateRequest('rawBody', null as unknown as Buffer)
    app.addHook('onRoute', ({ method, url, schema }) => {
      const requestSchema = schema as RequestSchema | undefined
      for (const part of ['params', 'querystring', 'body'] as const) {
        if (requestSchema?.[part])
          parts.push({ route: `${method} ${url}`, part, schema: requestSchema[part] as TSchema })
      }
    })
    register(app)
  }
  return parts
}
