import { problem } from '../api/problem.ts'
import type { Tx } from '../platform/database/database.ts'
import type { Mode } from './keys.ts'
import { type BucketName, type KeyLimits, type KeyOverrides, limitsFor, type Rates } from './limits/table.ts'

export interface LimitsOfKey {
  mode: Mode
  limits: KeyLimits
  overrides: KeyOverrides
}

export type LimitsChange =
  | { reset: true }
  | { reset?: undefined; bucket?: BucketName; rates?: Partial<Rates>; peoplePerDay?: number | undefined }

export async function getLimits(tx: Tx, keyId: string): Promise<LimitsOfKey> {
  const row = await tx
    .selectFrom('partner_keys')
    .select(['mode', 'limits'])
    .where('key_id', '=', keyId)
    .executeTakeFirst()
  if (!row) throw problem('NOT_FOUND', `There is no partner key ${keyId}.`)
  return limitsOf(row.mode as Mode, row.limits as KeyOverrides)
}

/** Changes single numbers of a key's limits, or all of them back to the table. In force within a second. */
export async function setLimits(tx: Tx, keyId: string, change: LimitsChange): Promise<LimitsOfKey> {
  const row = await tx
    .selectFrom('partner_keys')
    .select(['mode', 'limits'])
    .where('key_id', '=', keyId)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw problem('NOT_FOUND', `There is no partner key ${keyId}.`)
  const overrides = change.reset ? {} : merged(row.limits as KeyOverrides, change)
  const found = limitsOf(row.mode as Mode, overrides)
  await tx
    .updateTable('partner_keys')
    .set({ limits: JSON.stringify(overrides) })
    .where('key_id', '=', keyId)
    .execute()
  return found
}

function merged(
  before: KeyOverrides,
  { bucket, rates, peoplePerDay }: Exclude<LimitsChange, { reset: true }>,
): KeyOverrides {
  const overrides: KeyOverrides = { ...before }
  if (bucket) overrides.buckets = { ...before.buckets, [bucket]: { ...before.buckets?.[bucket], ...rates } }
  if (peoplePerDay !== undefined) overrides.peoplePerDay = peoplePerDay
  return overrides
}

function limitsOf(mode: Mode, overrides: KeyOverrides): LimitsOfKey {
  return { mode, overrides, limits: limitsFor(mode, overrides) }
}
