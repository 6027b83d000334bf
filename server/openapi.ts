import swagger from '@fastify/swagger'
import fastify from 'fastify'
import { type Api, errorAnswer } from './api/envelope.ts'
import { type Code, catalogueCodes, partnerCodes, problem, verificationCodes } from './api/problem.ts'
import { apis } from './app.ts'
import type { Context } from './context.ts'
import type { App } from './platform/http/server.ts'

type Name = keyof typeof apis

const about: Record<
  Name,
  { title: string; description: string; codes: Partial<Record<Code, number>>; securitySchemes: Record<string, object> }
> = {
  partner: {
    title: 'Attestry partner API',
    description: [
      'Job mandates, campaigns and results for partner systems. A TEST key sees test data only.',
      '',
      '## Signing',
      '',
      'Every request carries `x-api-key` (the key id), `x-timestamp` (Unix time in whole seconds, within 5 minutes of the server clock) and `x-signature`: `v1=` and the lower-case hex HMAC-SHA256, keyed with the secret, of these seven lines joined by a newline:',
      '',
      // Short lines: a phone shows them whole.
      '```text',
      'VFN1',
      '{x-timestamp}',
      '{METHOD}',
      '{path and query}',
      '{x-on-behalf-of}',
      '{Idempotency-Key}',
      '{SHA-256 of the body}',
      '```',
      '',
      'The method is in upper case; path and query are exactly as sent. The line of a header that is not sent is empty. The hash is lower-case hex, of the raw bytes of the body; of the empty string where there is none.',
      '',
      'With a TEST key, a 401 shows the seven lines as the server read them. `npx attestry request GET /shifts` makes a signed call for you.',
      '',
      '## Limits',
      '',
      "Every answer that passed authentication carries `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` of the minute window of the call's class; a 429 also `Retry-After`, in seconds.",
    ].join('\n'),
    codes: partnerCodes,
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The key id, VFN_TEST_… or VFN_LIVE_….' },
      timestamp: {
        type: 'apiKey',
        in: 'header',
        name: 'x-timestamp',
        description: 'Unix time in whole seconds, within 5 minutes of the server clock.',
      },
      signature: {
        type: 'apiKey',
        in: 'header',
        name: 'x-signature',
        description: 'v1= and the hex HMAC-SHA256 of the seven lines, keyed with the secret.',
      },
    },
  },
  verification: {
    title: 'Attestry verification sessions',
    description:
      "Verifies a student's skills against projects, work experience and certificates, by a person or by an assessment.",
    codes: verificationCodes,
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A session key, VSK_TEST_… or VSK_LIVE_….' },
      session: { type: 'apiKey', in: 'header', name: 'x-session-token', description: "The student's session token." },
    },
  },
  catalogue: {
    title: 'Attestry skill catalogue',
    description:
      'Search, hierarchy and selected skills. Open to everybody, limited per address; the admin routes need the admin key.',
    codes: catalogueCodes,
    securitySchemes: {
      admin: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The admin key, on admin routes only.' },
    },
  },
}

/** The three descriptions, made from the routes themselves. Needs no database: nothing is called. */
export async function describeApis(): Promise<Record<Name, object>> {
  const made = {} as Record<Name, object>
  for (const name of Object.keys(apis) as Name[]) made[name] = await describeApi(name)
  return made
}

interface Operation {
  responses: object
  parameters?: { required?: boolean; schema: { default?: unknown } }[]
}

async function describeApi(name: Name): Promise<object> {
  const { title, description, securitySchemes } = about[name]
  const app = fastify() as unknown as App
  app.setValidatorCompiler((() => () => true) as never) // nothing is called, so nothing is checked
  await app.register(
    swagger as never,
    {
      openapi: {
        openapi: '3.1.0',
        info: { title, description, version: '1.0.0', license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
        components: { securitySchemes, responses: { Error: errorResponse(name) } },
        ...(name === 'partner' ? { security: [{ key: [], timestamp: [], signature: [] }] } : {}),
      },
      transform: ({
        schema,
        url,
        route,
      }: {
        schema: Record<string, unknown>
        url: string
        route: { config?: { scope?: string | null; limit?: string; idempotent?: string } }
      }) => ({
        url,
        schema: withDeclarations(schema, route.config ?? {}, name),
      }),
    } as never,
  )
  app.register(async (scope) => apis[name].routes(scope as App, {} as Context), { prefix: apis[name].base })
  await app.ready()
  const described = (app as unknown as { swagger(): { paths: Record<string, Record<string, Operation>> } }).swagger()
  for (const path of Object.values(described.paths)) {
    delete path.head
    for (const operation of Object.values(path)) {
      Object.assign(operation.responses, { default: { $ref: '#/components/responses/Error' } })
      for (const parameter of operation.parameters ?? []) {
        if (parameter.schema.default !== undefined) parameter.required = false // the server fills it in
      }
    }
  }
  await app.close()
  return described
}

/** What a route declares beside its shapes is told in its description. */
function withDeclarations(
  schema: Record<string, unknown> = {},
  { scope, limit, idempotent }: { scope?: string | null; limit?: string; idempotent?: string },
  name: Name,
) {
  if (name !== 'partner') return schema
  const lines = [schema.description]
  lines.push(scope ? `Scope: \`${scope}\`.` : 'Any valid key.', `Limit class: \`${limit}\`.`)
  const headers: Record<string, object> = {
    'x-on-behalf-of': {
      type: 'string',
      minLength: 1,
      maxLength: 128,
      description: 'The recruiter for whom the call is made; has rate buckets of its own.',
    },
  }
  if (idempotent)
    headers['Idempotency-Key'] = {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description: 'A retry with the same key returns the first answer, kept 24 hours.',
    }
  return {
    ...schema,
    description: lines.filter(Boolean).join(' '),
    headers: {
      type: 'object',
      properties: headers,
      ...(idempotent === 'required' ? { required: ['Idempotency-Key'] } : {}),
    },
  }
}

function errorResponse(name: Name) {
  const { codes } = about[name]
  const lines = Object.entries(codes).map(([code, status]) => `| ${status} | ${code} |`)
  return {
    description: ['An error, in the envelope of this API.', '', '| Status | Code |', '|---|---|', ...lines].join('\n'),
    content: {
      'application/json': {
        schema: errorSchema(name, Object.keys(codes)),
        example: errorAnswer(name as Api, problem('NOT_FOUND', 'There is nothing with this id.')).body,
      },
    },
  }
}

function errorSchema(name: Name, codes: string[]) {
  const text = { type: 'string' }
  if (name === 'catalogue') {
    return {
      type: 'object',
      required: ['success', 'message', 'error'],
      properties: { success: { const: false }, message: text, error: text },
    }
  }
  const detail = { type: 'object', required: ['path', 'message'], properties: { path: text, message: text } }
  const error: { type: string; required: string[]; properties: Record<string, object> } = {
    type: 'object',
    required: ['code', 'message'],
    properties: { code: { type: 'string', enum: codes }, message: text },
  }
  if (name === 'partner') {
    error.required.push('details')
    error.properties.details = { type: 'array', items: detail }
  }
  return { type: 'object', required: ['success', 'error'], properties: { success: { const: false }, error } }
}
