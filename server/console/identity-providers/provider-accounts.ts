import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { Tx } from '../../platform/database/database.ts'
import { recordAuditEntry } from '../audit.ts'
import { providerName, renameMember } from '../auth/member-names.ts'
import { addMember, changeMemberEmail, findMemberByEmail, lockMembers, setMemberRole } from '../auth/members.ts'
import { addOperator, findOperator, isRemovedOperator } from '../auth/operators.ts'
import type { MemberRole } from '../auth/roles.ts'
import { listGroupNames } from '../scim/groups.ts'
import { findScimUserByEmail } from '../scim/users.ts'
import type { IdentityProvider } from './identity-providers.ts'
import { roleOfGroups } from './role-mapping.ts'

/** The reasons why a sign-in with a provider fails. The sign-in page has a text for each. */
const signInFailures = [
  'expired',
  'denied',
  'unreachable',
  'invalid_response',
  'other_provider',
  'email_missing',
  'email_unverified',
  'domain_not_allowed',
  'account_changed',
  'no_role',
  'deactivated',
  'operator_removed',
] as const
export type SignInFailure = (typeof signInFailures)[number]

/** The provider authenticated a person who may not sign in. */
export class SignInRejectedError extends Error {
  readonly failure: SignInFailure
  readonly email: string | undefined
  constructor(failure: SignInFailure, email?: string) {
    super(failure)
    this.failure = failure
    this.email = email
  }
}

/** Claims of the ID token and of the UserInfo endpoint. */
export type ProviderClaims = Record<string, unknown> & { sub: string }

type AccountDeps = Pick<Context, 'clock'>
interface Origin {
  requestId: string
}

/**
 * Returns the email address of the person with the claims, who gets the role that the provider assigns. Throws a SignInRejectedError.
 *
 * An account of the provider is bound to the email address of its first sign-in. An account with another subject and the same address
 * is another person, for example a new employee with the address of a former one.
 */
export async function acceptProviderAccount(
  tx: Tx,
  deps: AccountDeps,
  provider: IdentityProvider,
  claims: ProviderClaims,
  origin: Origin,
): Promise<string> {
  const email = verifiedEmail(provider, claims)
  await lockMembers(tx, provider.org_id ?? 'operators')
  const role = await findRole(tx, provider, claims, email)
  if (role === undefined) throw new SignInRejectedError('no_role', email)
  await bindAccount(tx, deps, provider, claims.sub, email, origin)
  if (provider.org_id === null) {
    await ensureOperator(tx, deps, provider, email, origin)
    return email
  }
  const person = { email, name: providerName(claims.name) }
  return ensureMember(tx, deps, provider, provider.org_id, person, role as MemberRole, origin)
}

/** Only ASCII: another letter can have the same lower-case form, and would match the address of another person. */
const EMAIL_FORMAT = /^[\x21-\x3f\x41-\x7e]{1,64}@[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/

function verifiedEmail({ allowed_domains }: IdentityProvider, claims: ProviderClaims): string {
  const { email } = claims
  if (typeof email !== 'string' || !EMAIL_FORMAT.test(email)) throw new SignInRejectedError('email_missing')
  if (!isVerified(claims)) throw new SignInRejectedError('email_unverified', email)
  const domain = email.slice(email.indexOf('@') + 1).toLowerCase()
  if (!allowed_domains.includes(domain)) throw new SignInRejectedError('domain_not_allowed', email)
  return email
}

/** Some providers send the values as texts. Microsoft Entra ID has `xms_edov` (email domain owner verified) instead. */
function isVerified({ email_verified, xms_edov }: ProviderClaims): boolean {
  const isTrue = (value: unknown) => value === true || value === 'true' || value === 1 || value === '1'
  return email_verified === undefined ? isTrue(xms_edov) : isTrue(email_verified)
}

/** Returns the role of the person's groups: those in the claims, and those that the provider provisioned. */
async function findRole(tx: Tx, provider: IdentityProvider, claims: ProviderClaims, email: string) {
  const user = await findScimUserByEmail(tx, provider.provider_id, email)
  if (user && !user.active) throw new SignInRejectedError('deactivated', email)
  const provisionedGroups = user ? await listGroupNames(tx, user.user_id) : []
  return roleOfGroups(provider, [claims[provider.group_claim], provisionedGroups].flat())
}

async function bindAccount(
  tx: Tx,
  { clock }: AccountDeps,
  provider: IdentityProvider,
  subject: string,
  email: string,
  { requestId }: Origin,
) {
  const { provider_id, org_id } = provider
  const now = new Date(clock.now())
  const accounts = await tx
    .selectFrom('console_identities')
    .select(['subject', 'email'])
    .where('provider_id', '=', provider_id)
    .where(({ or, eb }) => or([eb('subject', '=', subject), sql<boolean>`lower(email) = ${email.toLowerCase()}`]))
    .execute()
  if (accounts.some((account) => account.subject !== subject)) throw new SignInRejectedError('account_changed', email)
  const [account] = accounts
  if (account && account.email.toLowerCase() !== email.toLowerCase()) {
    // The person has a new address. An operator has to be added with it, because operators are named by their address.
    if (org_id === null || !(await changeMemberEmail(tx, org_id, account.email, email)))
      throw new SignInRejectedError('account_changed', email)
    const details = { email, provider_id }
    await recordAuditEntry(tx, clock, { actor: 'server', orgId: org_id, action: 'member.email', details, requestId })
  }
  await tx
    .insertInto('console_identities')
    .values({ provider_id, subject, email, created_at: now, last_sign_in_at: now })
    .onConflict((conflict) => conflict.columns(['provider_id', 'subject']).doUpdateSet({ email, last_sign_in_at: now }))
    .execute()
}

async function ensureOperator(
  tx: Tx,
  { clock }: AccountDeps,
  { provider_id }: IdentityProvider,
  email: string,
  { requestId }: Origin,
) {
  if (await findOperator(tx, email)) return
  // An operator who was removed in the console or on the command line has to be added there again.
  if (await isRemovedOperator(tx, email)) throw new SignInRejectedError('operator_removed', email)
  const { operator_id } = await addOperator(tx, clock, email)
  const details = { email, provider_id }
  await recordAuditEntry(tx, clock, {
    actor: 'server',
    action: 'operator.add',
    subject: operator_id,
    details,
    requestId,
  })
}

/** Adds the member, or sets their role if groups decide on it, and returns the stored address. */
async function ensureMember(
  tx: Tx,
  { clock }: AccountDeps,
  { provider_id, role_mappings }: IdentityProvider,
  orgId: string,
  { email, name }: { email: string; name: string | null },
  role: MemberRole,
  { requestId }: Origin,
): Promise<string> {
  const member = await findMemberByEmail(tx, orgId, email)
  const entry = { actor: 'server' as const, orgId, requestId }
  if (!member) {
    const { member_id } = await addMember(tx, clock, orgId, { email, name, role })
    const details = { email, role, provider_id }
    await recordAuditEntry(tx, clock, { ...entry, action: 'member.add', subject: member_id, details })
    return email
  }
  if (member.name === null && name !== null) await renameMember(tx, member.member_id, name)
  // Without mappings, owners assign the roles.
  if (role_mappings.length > 0 && member.role !== role) {
    // The only owner stays an owner: only owners can correct the mappings.
    const changed = await setMemberRole(tx, member, role)
    const details = { email, role, provider_id, ...(changed ? {} : { skipped: 'only owner' }) }
    await recordAuditEntry(tx, clock, { ...entry, action: 'member.change', subject: member.member_id, details })
  }
  return member.email
}
