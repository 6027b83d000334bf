import { sql } from 'kysely'
import { getOrganisation } from '../access/organisations.ts'
import { invalid } from '../api/invalid.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { linkErrors } from '../platform/text/links.ts'
import type { DeclaredBasis } from './contact-basis.ts'

export const minorsPolicies = ['off', 'guardian_consent'] as const
type MinorsPolicy = (typeof minorsPolicies)[number]

const DEFAULT_LINK_DAYS = 30
export const MAX_LINK_DAYS = 365

/** How an organisation handles personal data. Applies to both modes. */
export interface PrivacySettings extends DeclaredBasis {
  grievance_name: string | null
  grievance_email: string | null
  grievance_phone: string | null
  privacy_email: string | null
  postal_address: string | null
  minors: MinorsPolicy
  /** Days after the end of a campaign in which the links of its candidates still work. */
  link_days: number
  /** When the legal hold of the organisation began; null without one. */
  legal_hold_at: Date | null
  legal_hold_reason: string | null
}

export type PrivacySettingsChange = Partial<
  Omit<PrivacySettings, 'legal_hold_at' | 'legal_hold_reason' | 'contact_basis_declared_at'>
>

const DEFAULTS: PrivacySettings = {
  grievance_name: null,
  grievance_email: null,
  grievance_phone: null,
  privacy_email: null,
  postal_address: null,
  minors: 'off',
  link_days: DEFAULT_LINK_DAYS,
  contact_basis: null,
  contact_basis_source: null,
  contact_basis_text_version: null,
  contact_basis_declared_at: null,
  legal_hold_at: null,
  legal_hold_reason: null,
}

export async function getPrivacySettings(queries: Queries, orgId: string): Promise<PrivacySettings> {
  const { rows } = await sql<PrivacySettings>`
    select grievance_name, grievance_email, grievance_phone, privacy_email, postal_address, minors, link_days,
      contact_basis, contact_basis_source, contact_basis_text_version, contact_basis_declared_at, legal_hold_at, legal_hold_reason
    from privacy_settings where org_id = ${orgId}`.execute(queries)
  return rows[0] ?? DEFAULTS
}

const EMAIL_PATTERN = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
const PHONE_PATTERN = /^\+?[\d ()-]{5,30}$/

/** Changes settings of an organisation. A field that is null is removed, and a field that is absent is not changed. */
export async function changePrivacySettings(
  tx: Tx,
  clock: Clock,
  orgId: string,
  change: PrivacySettingsChange,
): Promise<PrivacySettings> {
  await getOrganisation(tx, orgId)
  requireValid(change)
  const before = await getPrivacySettings(tx, orgId)
  const settings = withContactBasis({ ...before, ...change }, before, clock)
  await store(tx, clock, orgId, settings)
  return settings
}

function requireValid({ grievance_email, privacy_email, grievance_phone, grievance_name }: PrivacySettingsChange) {
  const details = Object.entries({ grievance_email, privacy_email })
    .filter(([, value]) => value != null && !EMAIL_PATTERN.test(value))
    .map(([path]) => ({ path, message: 'must be an email address, such as privacy@example.com' }))
  if (grievance_phone != null && !PHONE_PATTERN.test(grievance_phone))
    details.push({ path: 'grievance_phone', message: 'must be a phone number, such as +91 22 5550 0100' })
  if (grievance_name != null) details.push(...linkErrors([['grievance_name', grievance_name]]))
  if (details.length > 0) throw invalid(details)
}

/** Requires the source of a declared basis, and sets the time of the declaration if the basis, its source or its text changes. */
function withContactBasis(settings: PrivacySettings, before: PrivacySettings, clock: Clock): PrivacySettings {
  const { contact_basis, contact_basis_source, contact_basis_text_version } = settings
  if (contact_basis === null)
    return {
      ...settings,
      contact_basis_source: null,
      contact_basis_text_version: null,
      contact_basis_declared_at: null,
    }
  if (contact_basis_source === null)
    throw invalid([
      {
        path: 'contact_basis_source',
        message: 'is required with contact_basis: name where people gave it, such as "application form on example.com"',
      },
    ])
  const isUnchanged =
    before.contact_basis === contact_basis &&
    before.contact_basis_source === contact_basis_source &&
    before.contact_basis_text_version === contact_basis_text_version
  return {
    ...settings,
    contact_basis_declared_at: isUnchanged ? before.contact_basis_declared_at : new Date(clock.now()),
  }
}

/** Starts a legal hold with a reason, or ends it with null. During the hold, retention periods erase nothing of the organisation. */
export async function setOrganisationHold(
  tx: Tx,
  clock: Clock,
  orgId: string,
  reason: string | null,
): Promise<PrivacySettings> {
  await getOrganisation(tx, orgId)
  const before = await getPrivacySettings(tx, orgId)
  const settings = {
    ...before,
    legal_hold_reason: reason,
    legal_hold_at: reason === null ? null : (before.legal_hold_at ?? new Date(clock.now())),
  }
  await store(tx, clock, orgId, settings)
  return settings
}

async function store(tx: Tx, clock: Clock, orgId: string, settings: PrivacySettings): Promise<void> {
  const values = { ...settings, updated_at: new Date(clock.now()) }
  await tx
    .insertInto('privacy_settings')
    .values({ org_id: orgId, ...values })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet(values))
    .execute()
}
