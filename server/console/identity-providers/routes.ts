import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { invalid } from '../../api/invalid.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { lockMembers } from '../auth/members.ts'
import { successResponse } from '../schema.ts'
import { SCIM_BASE } from '../scim/paths.ts'
import { provisionAllUsers } from '../scim/provisioning.ts'
import { createScimToken, findScimToken, revokeScimToken } from '../scim/tokens.ts'
import {
  findProviderOf,
  isOtherClient,
  openClientSecret,
  type ProviderSettingsInput,
  providerRecord,
  removeProvider,
  saveProvider,
} from './identity-providers.ts'
import { issuerError } from './oidc-client.ts'
import { providerSignInUrl, redirectUri } from './paths.ts'
import { NewScimToken, OperatorProviderInput, ProviderInput, ProviderSettings } from './schema.ts'
import { checkProvider, describeProviderError } from './sign-in.ts'

/** Routes for the identity provider of an organisation, which owners manage, and for that of the operators. */
export function identityProviderRoutes(app: App, context: Context): void {
  const { db, config } = context
  const response = { 200: success(ProviderSettings) }

  const ownerConfig = { role: 'owner' } as const
  const ownerChange = { ...ownerConfig, recentSignIn: true } as const
  const ORG_PATH = '/orgs/:org/identity-provider'
  app.get(ORG_PATH, { config: ownerConfig, schema: { response } }, ({ orgAccess }) => read(orgAccess.orgId))
  app.put(ORG_PATH, { config: ownerChange, schema: { body: ProviderInput, response } }, (request) =>
    save(request, request.orgAccess.orgId, request.body),
  )
  app.delete(ORG_PATH, { config: ownerChange, schema: { response } }, (request) =>
    remove(request, request.orgAccess.orgId),
  )

  const operatorConfig = { role: 'operator' } as const
  const operatorChange = { ...operatorConfig, recentSignIn: true } as const
  const OPERATOR_PATH = '/operator/identity-provider'
  app.get(OPERATOR_PATH, { config: operatorConfig, schema: { response } }, () => read(null))
  app.put(OPERATOR_PATH, { config: operatorChange, schema: { body: OperatorProviderInput, response } }, (request) =>
    save(request, null, request.body),
  )
  app.delete(OPERATOR_PATH, { config: operatorChange, schema: { response } }, (request) => remove(request, null))

  const TOKEN_PATH = `${ORG_PATH}/scim-token`
  app.post(
    TOKEN_PATH,
    { config: ownerChange, schema: { response: { 201: success(NewScimToken) } } },
    async (request, reply) => {
      const { orgId } = request.orgAccess
      const token = await db.transaction(async (tx) => {
        const provider = await findProviderOf(tx, orgId)
        if (!provider) throw problem('CONFLICT', 'Save the identity provider before you create a token for SCIM.')
        const created = await createScimToken(tx, context, provider)
        await recordRequestAudit(tx, context, request, 'scim_token.create', provider.provider_id)
        return created
      })
      reply.status(201)
      return successResponse('Token created; it is not shown again', { token })
    },
  )
  app.delete(TOKEN_PATH, { config: ownerChange }, async (request) => {
    const { orgId } = request.orgAccess
    await db.transaction(async (tx) => {
      if (!(await revokeScimToken(tx, orgId))) throw problem('NOT_FOUND', 'There is no token for SCIM.')
      await recordRequestAudit(tx, context, request, 'scim_token.revoke')
    })
    return successResponse('Token revoked', {})
  })

  async function read(orgId: string | null) {
    const provider = await findProviderOf(db.queries, orgId)
    return successResponse('Identity provider', await settingsOf(orgId, provider))
  }

  async function settingsOf(orgId: string | null, provider: Awaited<ReturnType<typeof findProviderOf>>) {
    const token = orgId === null ? undefined : await findScimToken(db.queries, orgId)
    return {
      scim_url: orgId === null ? null : config.publicUrl + SCIM_BASE,
      scim_token: token
        ? { created_at: token.created_at.toISOString(), last_used_at: token.last_used_at?.toISOString() ?? null }
        : null,
      provider: provider ? providerRecord(provider) : null,
      redirect_uri: redirectUri(config.publicUrl!, orgId),
      sign_in_url: providerSignInUrl(config.publicUrl!, orgId),
    }
  }

  async function save(
    request: FastifyRequest,
    orgId: string | null,
    body: Static<typeof ProviderInput> | Static<typeof OperatorProviderInput>,
  ) {
    const input = body as ProviderSettingsInput
    const existing = await findProviderOf(db.queries, orgId)
    requireUsable(request, existing, input)
    const issuerProblem = await issuerError(input.issuer, context)
    if (issuerProblem) throw invalid([{ path: 'issuer', message: issuerProblem }])
    const isReplaced = existing === undefined || isOtherClient(existing, input)
    const storedSecret = isReplaced ? undefined : openClientSecret(context, existing)
    const clientSecret = input.client_secret === undefined ? storedSecret : (input.client_secret ?? undefined)
    const settings = { issuer: input.issuer, clientId: input.client_id, clientSecret }
    const { endSessionEndpoint } = await checkProvider(context, settings).catch((error) => {
      throw invalid([
        { path: 'issuer', message: `has no usable OpenID Connect metadata: ${describeProviderError(error)}` },
      ])
    })
    const provider = await db.transaction(async (tx) => {
      const saved = await saveProvider(tx, context, orgId, input, endSessionEndpoint)
      const { issuer, client_id, allowed_domains, required } = saved.provider
      await recordRequestAudit(tx, context, request, 'identity_provider.save', saved.provider.provider_id, {
        issuer,
        client_id,
        allowed_domains,
        required,
        ...(saved.replaced ? { sessions_ended: true } : {}),
      })
      if (orgId !== null) {
        await lockMembers(tx, orgId)
        await provisionAllUsers(tx, { clock: context.clock, requestId: request.id }, saved.provider)
      }
      return saved.provider
    })
    return successResponse('Identity provider saved', await settingsOf(orgId, provider))
  }

  /** A provider that does not work must not become the only way to sign in. */
  function requireUsable(
    { session }: FastifyRequest,
    existing: Awaited<ReturnType<typeof findProviderOf>>,
    input: ProviderSettingsInput,
  ) {
    const path = 'required'
    if ((input.role_mappings ?? []).length === 0 && (input.default_role ?? null) === null)
      throw invalid([{ path: 'default_role', message: 'is required if no group is mapped to a role' }])
    if (!input.required) return
    if (existing === undefined || isOtherClient(existing, input))
      throw invalid([{ path, message: 'can be switched on after a sign-in with the saved provider' }])
    if (!existing.required && session.provider?.providerId !== existing.provider_id)
      throw invalid([
        { path, message: 'can be switched on only in a session with this provider: sign in with it first' },
      ])
  }

  async function remove(request: FastifyRequest, orgId: string | null) {
    await db.transaction(async (tx) => {
      const removed = await removeProvider(tx, orgId)
      if (!removed) throw problem('NOT_FOUND', 'There is no identity provider.')
      const { provider_id, issuer } = removed
      await recordRequestAudit(tx, context, request, 'identity_provider.remove', provider_id, { issuer })
    })
    return successResponse('Identity provider removed', await settingsOf(orgId, undefined))
  }
}
