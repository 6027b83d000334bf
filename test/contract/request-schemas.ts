import type { TSchema } from 'typebox'
import type { RequestSchema } from '../../server/platform/http/validation.ts'
import { startApp } from '../support/app.ts'
import type { Cleanup } from '../support/cleanup.ts'

export interface RoutePart {
  route: string
  part: 'params' | 'querystring' | 'body'
  schema: TSchema
}

export interface RequestSchemas {
  parts: RoutePart[]
  /** Routes that accept a body and have no schema for it. */
  withoutBodySchema: string[]
}

const METHODS_WITH_BODY = ['POST', 'PUT', 'PATCH', 'DELETE']

/** Starts a server and returns the schemas of the requests of all its routes. */
export async function listRequestSchemas(t: Cleanup): Promise<RequestSchemas> {
  const parts: RoutePart[] = []
  const withoutBodySchema: string[] = []
  await startApp(t, {
    extend: (app) =>
      app.addHook('onRoute', ({ method, url, schema }) => {
        const requestSchema = (schema ?? {}) as RequestSchema
        for (const name of [method].flat()) {
          const route = `${name} ${url}`
          for (const part of ['params', 'querystring', 'body'] as const)
            if (requestSchema[part]) parts.push({ route, part, schema: requestSchema[part] as TSchema })
          if (METHODS_WITH_BODY.includes(name) && !requestSchema.body) withoutBodySchema.push(route)
        }
      }),
  })
  return { parts, withoutBodySchema }
}
