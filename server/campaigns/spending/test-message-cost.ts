import type { OrgScope } from '../../access/caller.ts'
import type { Tx } from '../../platform/database/database.ts'
import { type DailyCost, reserveDailyCost } from './spending.ts'

/**
 * Adds the estimated cost of a test message, which belongs to no campaign, to the amount spent on the day. Returns false if that would exceed
 * the daily cap.
 */
export async function reserveTestMessageCost(tx: Tx, scope: OrgScope, dailyCost: DailyCost): Promise<boolean> {
  return dailyCost.cost === 0 || reserveDailyCost(tx, scope, dailyCost)
}
