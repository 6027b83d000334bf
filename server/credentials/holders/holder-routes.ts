import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { callerAddress } from '../../access/client-address.ts'
import type { Rule } from '../../access/limits/limiter.ts'
import { getOrganisation } from '../../access/organisations.ts'
import { problem } from '../../api/problem.ts'
import { findBrand } from '../../branding/branding.ts'
import { pageBrand } from '../../branding/schema.ts'
import { candidateResponse } from '../../campaigns/candidate-page/schema.ts'
import { skillId } from '../../catalogue/ids.ts'
import type { Context } from '../../context.ts'
import { formatSeconds } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { readBody } from '../../platform/http/body.ts'
import { parseJson } from '../../platform/http/json.ts'
import { type App, validateRequest } from '../../platform/http/server.ts'
import { hashToken } from '../../platform/token-hash.ts'
import { type CredentialRow, credentialColumns, credentialStatusAt } from '../credentials.ts'
import { reissueCredentials } from '../issue.ts'
import { exportLearnerRecord } from '../learner-record.ts'
import { deleteRevokedContent, revokeCredentials } from '../revocation.ts'
import { HolderChange, HolderView } from '../schema.ts'
import { findSource } from '../sources.ts'
import { requirePlainName } from './consents.ts'
import { changeProfile, findHolderByToken, type Holder, lockHolder, profileUrl, revokeOtherLinks } from './holders.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the hook of the holder routes. */
    holderAccess: { holder: Holder; token: string }
  }
}

const MAX_BODY_BYTES = 32 * 1024
const ADDRESS_RULE: Rule = { name: 'holder-address', kind: 'fixed', limit: 300, seconds: 60 }
const TOKEN_RULE: Rule = { name: 'holder-token', kind: 'tokens', limit: 20, seconds: 10 }
const UNKNOWN_TOKEN_RULE: Rule = { name: 'unknown-holder-tokens', kind: 'fixed', limit: 60, seconds: 60 }

/** The API of the page on which a person manages their credentials. The token of the secret link is the only authentication. */
export function holderRoutes(app: App, context: Context): void {
  const { db, clock, config, limits } = context
  app.decorateRequest('holderAccess', null as never)
  app.addHook('preParsing', async (request, reply) => {
    if (request.is404) return
    await enforceRateLimit(callerAddress(request.ip), ADDRESS_RULE, reply)
    // Before the body is read, so that a caller without a valid link cannot occupy a connection.
    request.holderAccess = await authenticate(request, reply)
    request.rawBody = await readBody(request.raw, MAX_BODY_BYTES)
  })
  app.addHook('preValidation', async (request) => {
    if (request.is404) return
    if (request.rawBody.length > 0) request.body = parseJson(request.rawBody)
    validateRequest(request, request.routeOptions.config)
  })
  const response = { 200: candidateResponse(HolderView) }

  app.get('/holder', { schema: { response } }, async (request, reply) => {
    const { holder } = request.holderAccess
    reply.header('cache-control', 'no-store')
    return { success: true as const, data: await holderView(db.queries, holder) }
  })

  app.patch('/holder', { schema: { body: HolderChange, response } }, async (request) => {
    const { holder, token } = request.holderAccess
    const data = await db.transaction(async (tx) => {
      await lockHolder(tx, holder.holder_id)
      await applyChange(tx, holder, token, request.body)
      return holderView(tx, await lockHolder(tx, holder.holder_id))
    })
    return { success: true as const, data }
  })

  app.get('/holder/clr', async (request: FastifyRequest, reply: FastifyReply) => {
    const { holder } = request.holderAccess
    const record = await db.transaction((tx) => exportLearnerRecord(tx, context, holder))
    return reply
      .header('cache-control', 'no-store')
      .header('content-disposition', 'attachment; filename="learner-record.jwt"')
      .type('application/vc+jwt')
      .send(record)
  })

  async function applyChange(tx: Tx, holder: Holder, token: string, change: HolderChange) {
    const { holder_id: holderId } = holder
    for (const { credential_id: id, hidden, revoke } of change.credentials ?? []) {
      const { rows } =
        await sql`select 1 from credentials where credential_id = ${id} and holder_id = ${holderId}`.execute(tx)
      if (rows.length === 0) throw problem('NOT_FOUND', `Credential ${id} not found.`)
      if (hidden !== undefined)
        await sql`update credentials set is_hidden = ${hidden} where credential_id = ${id}`.execute(tx)
      if (revoke)
        await revokeCredentials(tx, context, sql`credential_id = ${id} and holder_id = ${holderId}`, 'holder_request')
    }
    if (change.show_name !== undefined) await showName(tx, holderId, change.show_name)
    if (change.profile_public !== undefined || change.new_profile_link)
      await changeProfile(tx, clock, holderId, { isPublic: change.profile_public, newLink: change.new_profile_link })
    if (change.revoke_other_links) await revokeOtherLinks(tx, clock, holderId, token)
  }

  /** Issues the credentials of a holder again, with or without the name. */
  async function showName(tx: Tx, holderId: string, isShown: boolean) {
    const { rows } = await sql<Pick<CredentialRow, 'source_kind' | 'source_id'>>`
      select distinct source_kind, source_id from credentials
      where holder_id = ${holderId} and revoked_at is null and shows_name <> ${isShown} order by source_kind, source_id`.execute(
      tx,
    )
    for (const { source_kind, source_id } of rows) {
      const source = await findSource(tx, source_kind, source_id, clock)
      if (!source) continue
      if (isShown) requirePlainName(source.name)
      await reissueCredentials(tx, context, source, isShown)
    }
    if (!isShown) await deleteRevokedContent(tx, context, sql`holder_id = ${holderId} and shows_name`)
    await sql`update credential_consents set show_name = ${isShown} where holder_id = ${holderId} and wanted`.execute(
      tx,
    )
  }

  async function holderView(queries: Queries, holder: Holder) {
    const { name } = await getOrganisation(queries, holder.org_id)
    const brand = await findBrand(queries, holder.org_id)
    const { rows } = await sql<CredentialRow>`
      select ${credentialColumns} from credentials
      where holder_id = ${holder.holder_id} and revocation_reason is distinct from 'replaced'
      order by issued_at desc, revoked_at desc nulls first, skill_number`.execute(queries)
    return {
      organisation: holder.mode === 'test' ? `${name} (TEST)` : name,
      ...(brand ? { brand: pageBrand(brand) } : {}),
      mode: holder.mode,
      profile_public: holder.is_profile_public,
      profile_url: profileUrl(config, holder),
      show_name: rows.some(({ shows_name }) => shows_name),
      credentials: rows.map((row) => ({
        credential_id: row.credential_id,
        url: row.url,
        skill: { skill_id: skillId(row.skill_number), name: row.skill_name },
        status: credentialStatusAt(row, clock.now()),
        issued_at: row.issued_at.toISOString(),
        valid_until: row.valid_until.toISOString(),
        revocation_reason: row.revocation_reason,
        hidden: row.is_hidden,
      })),
    }
  }

  async function authenticate(request: FastifyRequest, reply: FastifyReply) {
    const token = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined)
      throw problem('UNAUTHORIZED', 'Send the token of your secret link as `Authorization: Bearer TOKEN`.')
    await enforceRateLimit(hashToken(token).toString('base64url'), TOKEN_RULE, reply)
    const holder = await findHolderByToken(db.queries, token)
    if (holder) return { holder, token }
    await enforceRateLimit(callerAddress(request.ip), UNKNOWN_TOKEN_RULE, reply)
    throw problem('UNAUTHORIZED', 'This link is not valid any more. Open the newest link that you received.')
  }

  async function enforceRateLimit(caller: string, rule: Rule, reply: FastifyReply) {
    const { rejectedBy, retryAfter } = await limits.limiter.take(caller, [rule], clock.now())
    if (rejectedBy === undefined) return
    reply.header('retry-after', retryAfter)
    throw problem('RATE_LIMITED', `Too many requests. Try again in ${formatSeconds(retryAfter)}.`, { retryAfter })
  }
}
