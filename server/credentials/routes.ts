import type { FastifyRequest } from 'fastify'
import { runIdempotent } from '../access/idempotency.ts'
import { skillNumber } from '../catalogue/ids.ts'
import type { Context } from '../context.ts'
import { parseTimestamp } from '../platform/clock.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { type CredentialPosition, credentialRecord, getCredential, listCredentials } from './credentials.ts'
import { revokeCredential } from './revocation.ts'
import { CredentialParams, CredentialRecord, CredentialsQuery, RevokeBody } from './schema.ts'

/** Routes of the partner API for the credentials of an organisation. */
export function credentialRoutes(app: App, context: Context): void {
  const { db, clock, vault } = context
  const readConfig = { scope: 'credentials:read', limit: 'reads', readsReplica: true } as const
  const tags = ['Credentials']

  app.get(
    '/credentials',
    {
      config: { ...readConfig, extraValidation: validateUpdatedSince },
      schema: {
        operationId: 'listCredentials',
        tags,
        summary: 'List credentials',
        description:
          'Lists the credentials of candidates and students who want them, newest first. To follow changes without gaps, use the events `credential.issued` and `credential.revoked`.',
        querystring: CredentialsQuery,
        response: { 200: success(listOf(CredentialRecord)) },
      },
    },
    async ({ caller, query: { limit, cursor, skill_id, updated_since, ...filter } }) => {
      const updatedSince = updated_since === undefined ? undefined : new Date(parseQueryTime(updated_since)!)
      const listKey = `credentials ${JSON.stringify([caller.orgId, caller.mode, filter, skill_id, updatedSince])}`
      const rows = await listCredentials(db.queries, caller, clock.now(), {
        ...filter,
        skillNumber: skill_id === undefined ? undefined : skillNumber(skill_id),
        updatedSince,
        after: readCursor<CredentialPosition>(vault, listKey, cursor),
        limit: limit + 1,
      })
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      const next_cursor =
        rows.length > limit
          ? writeCursor(vault, listKey, { at: last!.issued_at.toISOString(), id: last!.credential_id })
          : null
      const items = page.map((row) => credentialRecord(row, clock.now()))
      return { success: true as const, message: 'Credentials', data: { items, next_cursor } }
    },
  )

  app.get(
    '/credentials/:credential_id',
    {
      config: readConfig,
      schema: {
        operationId: 'getCredential',
        tags,
        summary: 'Get a credential',
        params: CredentialParams,
        response: { 200: success(CredentialRecord) },
      },
    },
    async ({ caller, params }) => {
      const row = await getCredential(db.queries, caller, params.credential_id)
      return { success: true as const, message: 'Credential', data: credentialRecord(row, clock.now()) }
    },
  )

  app.post(
    '/credentials/:credential_id/revoke',
    {
      config: { scope: 'credentials:write', limit: 'mandateWrites', idempotent: 'optional' },
      schema: {
        operationId: 'revokeCredential',
        tags,
        summary: 'Revoke a credential',
        description:
          'Verifiers see the revocation at once. It cannot be undone. Revoking a revoked credential changes nothing.',
        params: CredentialParams,
        body: RevokeBody,
        response: { 200: success(CredentialRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { params, body } = request
        const row = await revokeCredential(tx, context, caller, params.credential_id, body.reason)
        const data = credentialRecord(row, clock.now())
        return { status: 200, body: { success: true as const, message: 'Credential revoked', data } }
      })
    },
  )
}

function parseQueryTime(text: string): number | undefined {
  // A plus sign that was not encoded arrives as a space.
  return parseTimestamp(text.replace(' ', '+'))
}

function validateUpdatedSince(_context: Context, { query }: FastifyRequest) {
  const { updated_since } = query as { updated_since?: unknown }
  if (typeof updated_since !== 'string' || parseQueryTime(updated_since) !== undefined) return []
  return [
    {
      path: 'query.updated_since',
      message: 'must be an ISO 8601 timestamp with a time zone, such as 2030-01-31T09:00:00Z',
    },
  ]
}
