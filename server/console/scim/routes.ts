import type { FastifyReply, FastifyRequest } from 'fastify'
import { countFailedAuthentication } from '../../access/authentication.ts'
import type { Rule } from '../../access/limits/limiter.ts'
import { type Detail, partnerErrorCodes, problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { formatSeconds } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { readRawBody } from '../../platform/http/body.ts'
import { collectUnstorableTexts, parseJson, unstorableReason } from '../../platform/http/json.ts'
import { type App, toProblem } from '../../platform/http/server.ts'
import { lockMembers } from '../auth/members.ts'
import { findProvider, type IdentityProvider } from '../identity-providers/identity-providers.ts'
import { ChangeQueue } from './change-queue.ts'
import { scimError } from './errors.ts'
import {
  countScimGroups,
  deleteScimGroup,
  findGroupsOfUsers,
  listScimGroups,
  type ScimGroup,
  type ScimGroupValues,
  saveScimGroup,
} from './groups.ts'
import { endMembership, provisionUser, provisionUsers } from './provisioning.ts'
import {
  formatGroup,
  formatList,
  formatPage,
  formatUser,
  patchGroup,
  patchUser,
  readEquality,
  readGroup,
  readUser,
  resourceTypes,
  schemaDefinitions,
  serviceProviderConfig,
} from './resources.ts'
import { authenticateScimToken } from './tokens.ts'
import {
  countScimUsers,
  createScimUser,
  deleteScimUser,
  findScimUser,
  listScimUsers,
  replaceScimUser,
  type ScimScope,
  type ScimUser,
  type UserCondition,
} from './users.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard of the SCIM routes. */
    scim: ScimScope
  }
}

const TOKEN_RATE_LIMIT: Rule = { name: 'scim-token', kind: 'tokens', limit: 50, seconds: 1 }
const MAX_BODY_BYTES = 1024 * 1024
/** Of an organisation. Lists with a filter are evaluated on all of them. */
const MAX_USERS = 20_000
const MAX_GROUPS = 1_000
const MEDIA_TYPE = 'application/scim+json; charset=utf-8'

type IdRequest = FastifyRequest<{ Params: { id: string } }>

/** The SCIM 2.0 API (RFC 7644), with which identity providers create, change and deactivate the members of an organisation. */
export function scimRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const changeQueue = new ChangeQueue()
  guardScimRoutes(app, context)

  app.get('/ServiceProviderConfig', async (_request, reply) => send(reply, serviceProviderConfig()))
  app.get('/ResourceTypes', async (_request, reply) => send(reply, await formatList(resourceTypes(), {})))
  app.get('/Schemas', async (_request, reply) => send(reply, await formatList(schemaDefinitions(), {})))

  app.get('/Users', async (request, reply) => {
    const query = readListQuery(request)
    const condition = userCondition(query.filter)
    const users = await listScimUsers(db.queries, request.scim, condition)
    // The database has evaluated the condition, without regard to the case of names, as the standard requires.
    if (query.filter !== undefined && !condition) return send(reply, await formatList(await formatUsers(users), query))
    return send(reply, await formatPage(users, query, formatUsers))
  })

  app.get('/Users/:id', async (request, reply) => {
    const [user] = await formatUsers([await getUser(request as IdRequest)])
    return send(reply, user!)
  })

  app.post('/Users', async (request, reply) => {
    const user = await change(request, async (tx, provider) => {
      const values = readUser(request.body, provider.allowed_domains)
      await requireFewUsers(tx, request.scim)
      const created = await createScimUser(tx, clock, request.scim, values)
      if (!created) throw uniquenessError('userName or email address')
      await provisionUser(tx, { clock, requestId: request.id }, provider, created)
      return created
    })
    return send(reply, formatUser(user), 201)
  })

  app.put('/Users/:id', async (request, reply) => {
    const user = await replaceUser(request as IdRequest, async () => request.body)
    return send(reply, (await formatUsers([user]))[0]!)
  })

  app.patch('/Users/:id', async (request, reply) => {
    const user = await replaceUser(request as IdRequest, (existing) => patchUser(existing, request.body))
    return send(reply, (await formatUsers([user]))[0]!)
  })

  app.delete('/Users/:id', async (request, reply) => {
    await change(request, async (tx, provider) => {
      const user = await getUser(request as IdRequest, tx)
      await deleteScimUser(tx, user)
      await endMembership(tx, { clock, requestId: request.id }, provider, user.email)
    })
    return reply.status(204).send()
  })

  app.get('/Groups', async (request, reply) => {
    const groups = await listScimGroups(db.queries, request.scim)
    return send(reply, await formatList(groups.map(formatGroup), readListQuery(request)))
  })

  app.get('/Groups/:id', async (request, reply) => send(reply, formatGroup(await getGroup(request as IdRequest))))

  app.post('/Groups', async (request, reply) => {
    const group = await saveGroup(request, async (tx) => {
      await requireFewGroups(tx, request.scim)
      return { values: readGroup(request.body) }
    })
    return send(reply, formatGroup(group), 201)
  })

  app.put('/Groups/:id', async (request, reply) => {
    const group = await saveGroup(request, async (tx) => ({
      existing: await getGroup(request as IdRequest, tx),
      values: readGroup(request.body),
    }))
    return send(reply, formatGroup(group))
  })

  app.patch('/Groups/:id', async (request, reply) => {
    const group = await saveGroup(request, async (tx) => {
      const existing = await getGroup(request as IdRequest, tx)
      return { existing, values: await patchGroup(existing, request.body) }
    })
    return send(reply, formatGroup(group))
  })

  app.delete('/Groups/:id', async (request, reply) => {
    await change(request, async (tx, provider) => {
      const group = await getGroup(request as IdRequest, tx)
      await deleteScimGroup(tx, group)
      const userIds = group.members.map(({ user_id }) => user_id)
      await provisionUsers(tx, { clock, requestId: request.id }, provider, userIds)
    })
    return reply.status(204).send()
  })

  /** Runs a change with the provider of the token, one at a time for each organisation. */
  function change<T>({ scim }: FastifyRequest, run: (tx: Tx, provider: IdentityProvider) => Promise<T>): Promise<T> {
    return changeQueue.run(scim.providerId, () =>
      db.transaction(async (tx) => {
        await lockMembers(tx, scim.orgId)
        const provider = await findProvider(tx, scim.providerId)
        if (!provider) throw scimError(401, null, 'The token was revoked.')
        return run(tx, provider)
      }),
    )
  }

  function replaceUser(request: IdRequest, readBodyOf: (existing: ScimUser) => Promise<unknown>): Promise<ScimUser> {
    return change(request, async (tx, provider) => {
      const existing = await getUser(request, tx)
      const values = readUser(await readBodyOf(existing), provider.allowed_domains, existing)
      const replaced = await replaceScimUser(tx, clock, existing, values)
      if (!replaced) throw uniquenessError('userName or email address')
      await provisionUser(tx, { clock, requestId: request.id }, provider, replaced, existing.email)
      return replaced
    })
  }

  function saveGroup(
    request: FastifyRequest,
    prepare: (tx: Tx) => Promise<{ existing?: ScimGroup; values: ScimGroupValues }>,
  ): Promise<ScimGroup> {
    return change(request, async (tx, provider) => {
      const { existing, values } = await prepare(tx)
      const groupId = await saveScimGroup(tx, clock, request.scim, values, existing)
      if (groupId === undefined) throw uniquenessError('displayName')
      const deps = { clock, requestId: request.id }
      await provisionUsers(tx, deps, provider, usersWithOtherGroups(values, existing))
      return (await listScimGroups(tx, request.scim, groupId))[0]!
    })
  }

  async function getUser({ scim, params }: IdRequest, queries: Tx | typeof db.queries = db.queries): Promise<ScimUser> {
    const user = await findScimUser(queries, scim, params.id)
    if (!user) throw scimError(404, null, `User ${params.id} not found.`)
    return user
  }

  async function getGroup({ scim, params }: IdRequest, queries: Tx | typeof db.queries = db.queries) {
    const [group] = await listScimGroups(queries, scim, params.id)
    if (!group) throw scimError(404, null, `Group ${params.id} not found.`)
    return group
  }

  async function formatUsers(users: ScimUser[]) {
    const userIds = users.map(({ user_id }) => user_id)
    const groupsOfUser = await findGroupsOfUsers(db.queries, userIds)
    return users.map((user) => formatUser(user, groupsOfUser.get(user.user_id)))
  }
}

function guardScimRoutes(app: App, context: Context): void {
  const { db, clock, limits, config } = context
  app.decorateRequest('scim', null as never)
  app.addHook('preParsing', async (request, reply) => {
    if (request.is404) return
    if (config.requireHttps && request.protocol !== 'https') throw problem('HTTPS_REQUIRED', 'Use HTTPS.')
    const [, token] = /^bearer +(\S{1,200}) *$/i.exec(request.headers.authorization ?? '') ?? []
    const scope = token === undefined ? undefined : await authenticateScimToken(db.queries, { clock }, token)
    if (!scope) {
      await countFailedAuthentication(context, request.ip)
      reply.header('www-authenticate', 'Bearer realm="Attestry"')
      throw scimError(
        401,
        null,
        'The token is missing, wrong or revoked. Create one in the console, under Identity provider.',
      )
    }
    request.scim = scope
    request.tenant.scope = { orgId: scope.orgId }
    const { rejectedBy, retryAfter } = await limits.limiter.take(scope.providerId, [TOKEN_RATE_LIMIT], clock.now())
    if (rejectedBy !== undefined)
      throw problem('RATE_LIMITED', `Too many requests. Try again in ${formatSeconds(retryAfter)}.`, { retryAfter })
    request.rawBody = await readRawBody(request.raw, MAX_BODY_BYTES) // application/scim+json or application/json
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request, _payload, done) => done(null, request.body))
  app.addHook('preValidation', async (request) => {
    if (request.is404) return
    const { id = '' } = request.params as { id?: string }
    if (unstorableReason(id)) throw scimError(404, null, 'The ID in the path does not exist.')
    if (request.rawBody.length > 0) request.body = parseJson(request.rawBody)
    // Only an escape sequence can produce a text that cannot be stored.
    if (request.rawBody.includes('\\u')) requireStorable(request.body)
  })
  app.setErrorHandler((error, request, reply) => {
    const { status, scimType, message } = toScimError(error as Error, request, reply)
    const body = {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: String(status),
      ...(scimType ? { scimType } : {}),
      detail: message,
    }
    return send(reply, body, status)
  })
}

/** Throws if a text in the body cannot be stored. */
function requireStorable(body: unknown): void {
  const details: Detail[] = []
  collectUnstorableTexts(body, '', details)
  if (details[0]) throw scimError(400, 'invalidValue', `${details[0].path} ${details[0].message}.`)
}

interface ScimErrorDetails {
  status: number
  scimType?: string | null
  message: string
}

function toScimError(
  error: Error & Partial<ScimErrorDetails>,
  request: FastifyRequest,
  reply: FastifyReply,
): ScimErrorDetails {
  if (error.name === 'SCIMError' && typeof error.status === 'number') return error as ScimErrorDetails
  const { code, status, message, retryAfter } = toProblem(error, request)
  request.errorCode = code
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  const httpStatus = status ?? (partnerErrorCodes as Partial<Record<string, number>>)[code] ?? 500
  return { status: httpStatus, scimType: httpStatus === 400 ? 'invalidSyntax' : null, message }
}

/** Returns the users whose groups change with a group: all if it has another name, otherwise those who were added or removed. */
function usersWithOtherGroups({ display_name, memberIds }: ScimGroupValues, existing?: ScimGroup): string[] {
  const previousIds = (existing?.members ?? []).map(({ user_id }) => user_id)
  if (existing?.display_name !== display_name) return [...previousIds, ...memberIds]
  const [previous, next] = [new Set(previousIds), new Set(memberIds)]
  return [...previousIds.filter((id) => !next.has(id)), ...memberIds.filter((id) => !previous.has(id))]
}

async function requireFewUsers(tx: Tx, scope: ScimScope): Promise<void> {
  if ((await countScimUsers(tx, scope)) >= MAX_USERS)
    throw scimError(400, 'tooMany', `The provider has ${MAX_USERS} users, which is the maximum. Delete users first.`)
}

async function requireFewGroups(tx: Tx, scope: ScimScope): Promise<void> {
  if ((await countScimGroups(tx, scope)) >= MAX_GROUPS)
    throw scimError(400, 'tooMany', `The provider has ${MAX_GROUPS} groups, which is the maximum. Delete groups first.`)
}

function uniquenessError(what: string) {
  return scimError(409, 'uniqueness', `Another resource has this ${what}.`)
}

function send(reply: FastifyReply, body: object, status = 200) {
  return reply.status(status).type(MEDIA_TYPE).serializer(JSON.stringify).send(body)
}

function readListQuery({ query }: FastifyRequest) {
  const { filter, startIndex, count } = query as Record<string, string | undefined>
  return { filter, startIndex: readInteger('startIndex', startIndex), count: readInteger('count', count) }
}

function readInteger(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^-?\d{1,9}$/.test(text))
    throw scimError(400, 'invalidValue', `${name} must be an integer; got ${text.slice(0, 20)}.`)
  return Number(text)
}

function userCondition(filter: string | undefined): UserCondition | undefined {
  const equality = readEquality(filter)
  return equality && ['username', 'externalid', 'id'].includes(equality.attribute)
    ? (equality as UserCondition)
    : undefined
}
