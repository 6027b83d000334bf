import { problem } from '../api/problem.ts'
import type { Tx } from '../platform/database/database.ts'
import { type Mode, requireTestKey } from './keys.ts'
import {
  type BucketName,
  type KeyLimits,
  type KeyOverrides,
  type LimitPreset,
  limitsFor,
  type Rates,
} from './limits/table.ts'

export interface KeyLimitSettings {
  mode: Mode
  limits: KeyLimits
  overrides: KeyOverrides
}

export type KeyLimitsChange =
  | { reset: true }
  | { reset?: undefined; preset: LimitPreset }
  | { reset?: undefined; bucket?: BucketName; rates?: Partial<Rates>; peoplePerDay?: number | undefined }

export async function getKeyLimits(tx: Tx, keyId: string): Promise<KeyLimitSettings> {
  const row = await tx
    .selectFrom('partner_keys')
    .select(['mode', 'limits'])
    .where('key_id', '=', keyId)
    .executeTakeFirst()
  if (!row) throw problem('NOT_FOUND', `Partner key ${keyId} not found.`)
  return limitSettings(row.mode as Mode, row.limits as KeyOverrides)
}

/** Overrides single limits of a key, or resets all of them to the defaults. Takes effect within a second. */
export async function setKeyLimits(tx: Tx, keyId: string, change: KeyLimitsChange): Promise<KeyLimitSettings> {
  const row = await tx
    .selectFrom('partner_keys')
    .select(['mode', 'limits'])
    .where('key_id', '=', keyId)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw problem('NOT_FOUND', `Partner key ${keyId} not found.`)
  if ('preset' in change) requireTestKey(row.mode as Mode)
  const overrides = change.reset
    ? {}
    : 'preset' in change
      ? { preset: change.preset }
      : mergeLimits(row.limits as KeyOverrides, change)
  const settings = limitSettings(row.mode as Mode, overrides)
  await tx
    .updateTable('partner_keys')
    .set({ limits: JSON.stringify(overrides) })
    .where('key_id', '=', keyId)
    .execute()
  return settings
}

function mergeLimits(
  current: KeyOverrides,
  { bucket, rates, peoplePerDay }: Exclude<KeyLimitsChange, { reset: true } | { preset: LimitPreset }>,
): KeyOverrides {
  const overrides: KeyOverrides = { ...current }
  if (bucket) overrides.buckets = { ...current.buckets, [bucket]: { ...current.buckets?.[bucket], ...rates } }
  if (peoplePerDay !== undefined) overrides.peoplePerDay = peoplePerDay
  return overrides
}

function limitSettings(mode: Mode, overrides: KeyOverrides): KeyLimitSettings {
  return { mode, overrides, limits: limitsFor(mode, overrides) }
}
