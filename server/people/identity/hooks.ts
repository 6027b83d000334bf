import type { OrgScope } from '../../access/caller.ts'
import type { Context } from '../../context.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { defineHook } from '../../platform/hook.ts'

/** Identifies a person for the modules that store the person's data. */
export interface PersonRef {
  scope: OrgScope
  personId: string
}

export type ErasureDeps = Pick<Context, 'clock' | 'mailboxes' | 'config'>

/** IDs of the records of a person. The records remain after the erasure. */
export interface PersonRecordIds {
  candidates?: { candidate_id: string; external_candidate_id: string; campaign_id: string; result_id: string }[]
  students?: { service_user_id: string; external_student_id: string; verification_ids: string[] }[]
  reviews?: { verification_id: string }[]
}

/**
 * Runs before the key of a person is deleted, in the same transaction. Each module ends its work for the person, such as conversations,
 * sessions, reviews, emails and credentials, and deletes the hashes by which its rows are found. Handlers must be idempotent.
 */
export const beforePersonErased = defineHook<[tx: Tx, deps: ErasureDeps, person: PersonRef]>(
  'beforePersonErased',
).handledBy('campaigns', 'verification', 'review-messages', 'credentials', 'mail', 'console', 'reports', 'embeds')

/** Runs when the processing of a person's data is restricted, and when the restriction is lifted. */
export const restrictionChanged = defineHook<[tx: Tx, deps: ErasureDeps, person: PersonRef, isRestricted: boolean]>(
  'restrictionChanged',
).handledBy('campaigns', 'verification')

/** New values of a person; undefined values are not changed. */
export interface Correction {
  name?: string | undefined
  phone?: string | undefined
  email?: string | undefined
}

/** Runs when the name or an address of a person is corrected. */
export const personCorrected = defineHook<[tx: Tx, deps: ErasureDeps, person: PersonRef, correction: Correction]>(
  'personCorrected',
).handledBy('campaigns', 'verification', 'console', 'ats')

/** A section of the export: a title and its records. */
export interface ExportSection {
  name: string
  title: string
  records: Record<string, unknown>[]
}

/** Returns everything that a module holds about a person. */
export const exportRequested = defineHook<[queries: Queries, deps: ErasureDeps, person: PersonRef], ExportSection[]>(
  'exportRequested',
).handledBy(
  'campaigns',
  'verification',
  'review-messages',
  'credentials',
  'mail',
  'privacy',
  'console',
  'ats',
  'reports',
  'embeds',
)

/** Returns the IDs of the records that a module holds about a person. */
export const recordIdsRequested = defineHook<[queries: Queries, person: PersonRef], PersonRecordIds>(
  'recordIdsRequested',
).handledBy('campaigns', 'verification')
