import type { OrgScope } from '../../access/caller.ts'
import type { Context } from '../../context.ts'
import { didOf, type IssuerKey, listIssuerKeys } from '../../credentials/issuers/issuers.ts'
import { revokeKey, rotateKey } from '../../credentials/issuers/key-changes.ts'
import { changeCredentialPolicy, getCredentialPolicy } from '../../credentials/policies.ts'
import { CredentialKeys, CredentialPolicyChange, CredentialPolicySchema, KeyParams } from '../../credentials/schema.ts'
import type { Queries } from '../../platform/database/database.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { successResponse } from '../schema.ts'

/** Routes for the policy and the keys of credentials. The credentials themselves have the routes of the partner API. */
export function credentialSettingsRoutes(app: App, context: Context): void {
  const { db, clock, config } = context
  const viewerConfig = { role: 'viewer' } as const
  const ownerConfig = { role: 'owner' } as const
  const keyChangeConfig = { role: 'owner', recentSignIn: true } as const

  app.get(
    '/orgs/:org/credential-policy',
    { config: viewerConfig, schema: { response: { 200: success(CredentialPolicySchema) } } },
    async ({ orgAccess }) =>
      successResponse('Credential policy', await getCredentialPolicy(db.queries, orgAccess.orgId)),
  )

  app.put(
    '/orgs/:org/credential-policy',
    {
      config: ownerConfig,
      schema: { body: CredentialPolicyChange, response: { 200: success(CredentialPolicySchema) } },
    },
    async (request) => {
      const { orgAccess, body } = request
      const policy = await db.transaction(async (tx) => {
        const changed = await changeCredentialPolicy(tx, clock, orgAccess.orgId, body)
        await recordRequestAudit(tx, context, request, 'credential.policy', orgAccess.orgId, changed)
        return changed
      })
      return successResponse('Credential policy changed', policy)
    },
  )

  app.get(
    '/orgs/:org/:mode/credential-keys',
    { config: viewerConfig, schema: { response: { 200: success(CredentialKeys) } } },
    async ({ caller }) => successResponse('Keys', await keysOf(db.queries, caller)),
  )

  app.post(
    '/orgs/:org/:mode/credential-keys/rotate',
    { config: keyChangeConfig, schema: { response: { 200: success(CredentialKeys) } } },
    async (request) => {
      const { caller } = request
      const keys = await db.transaction(async (tx) => {
        const key = await rotateKey(tx, clock, caller)
        await recordRequestAudit(tx, context, request, 'credential_key.rotate', key.key_id)
        return keysOf(tx, caller)
      })
      return successResponse('Key rotated', keys)
    },
  )

  app.post(
    '/orgs/:org/:mode/credential-keys/:key_id/revoke',
    { config: keyChangeConfig, schema: { params: KeyParams, response: { 200: success(CredentialKeys) } } },
    async (request) => {
      const { caller, params } = request
      const keys = await db.transaction(async (tx) => {
        const { revokedCredentials } = await revokeKey(tx, clock, caller, params.key_id)
        await recordRequestAudit(tx, context, request, 'credential_key.revoke', params.key_id, { revokedCredentials })
        return keysOf(tx, caller)
      })
      return successResponse('Key revoked', keys)
    },
  )

  async function keysOf(queries: Queries, scope: OrgScope) {
    return { did: didOf(config, scope), keys: (await listIssuerKeys(queries, scope)).map(keyRecord) }
  }
}

function keyRecord({ key_id, number, public_key, status, created_at, retired_at, revoked_at }: IssuerKey) {
  return {
    key_id,
    name: `key-${number}`,
    public_key,
    status,
    created_at: created_at.toISOString(),
    retired_at: retired_at?.toISOString() ?? null,
    revoked_at: revoked_at?.toISOString() ?? null,
  }
}
