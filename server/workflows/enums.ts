/** Verification methods, in the order in which a candidate completes them. */
export const methods = ['data_enrichment', 'skill_verification', 'interest_collection'] as const
export type Method = (typeof methods)[number]

export const channels = ['whatsapp', 'voice', 'sms', 'email'] as const
export type Channel = (typeof channels)[number]

/**
 * The interface that created a record: the partner API, or the console (`playground`), whose records partners can read but not
 * change.
 */
export type CreatedVia = 'api' | 'playground'

export const workflowStatuses = ['active', 'archived'] as const
