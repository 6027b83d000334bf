import type { Context } from '../../context.ts'
import type { Queries } from '../../platform/database/database.ts'
import { searchOrganisations } from '../operator/organisations.ts'
import { successResponse } from '../schema.ts'
import { readLanguage } from './account-language.ts'
import { listMemberships, type Membership } from './members.ts'
import { findOperator } from './operators.ts'
import type { SignedInSession } from './sessions.ts'

/** Returns the response of the routes that sign a person in. */
export async function sessionResponse(
  { db, keyring }: Pick<Context, 'db' | 'keyring'>,
  { email, isOperator, csrf, expiresAt, provider }: SignedInSession,
  queries: Queries = db.queries,
) {
  const ownMemberships = (await listMemberships(queries, email)).filter(
    ({ org_id }) => !provider || org_id === provider.orgId,
  )
  const memberships = ownMemberships.map(
    ({ email: _, person_name: __, language: ___, provider_required, ...organisation }) => ({
      ...organisation,
      provider_required: provider_required && !provider,
    }),
  )
  const languages = [
    ...ownMemberships.map(({ language }) => language),
    isOperator ? (await findOperator(queries, email))?.language : null,
  ].map(readLanguage)
  const organisations = isOperator ? await operatorOrganisations(queries, memberships) : memberships
  return successResponse('Session', {
    kind: isOperator ? ('operator' as const) : ('person' as const),
    email,
    name: ownMemberships.find(({ person_name }) => person_name !== null)?.person_name ?? null,
    language: languages.find((language) => language !== null) ?? null,
    csrf,
    expires_at: new Date(expiresAt).toISOString(),
    provider: provider ? { provider_id: provider.providerId, name: provider.name } : null,
    organisations: organisations.map((organisation) => ({
      ...organisation,
      service_off: keyring.isServiceDisabled(organisation.org_id),
      service_paused: keyring.isServicePaused(organisation.org_id),
    })),
  })
}

/** Maximum number of organisations that an operator's session lists, in addition to their own. */
const MAX_LISTED_ORGANISATIONS = 100

/** Returns the newest organisations, and those that the operator is a member of. */
async function operatorOrganisations(queries: Queries, memberships: Pick<Membership, 'org_id' | 'name'>[]) {
  const newest = await searchOrganisations(queries, { limit: MAX_LISTED_ORGANISATIONS })
  const listedIds = new Set(newest.map(({ org_id }) => org_id))
  const others = memberships.filter(({ org_id }) => !listedIds.has(org_id))
  return [...newest, ...others].map(({ org_id, name }) => ({
    org_id,
    name,
    role: 'operator' as const,
    provider_required: false,
  }))
}
