import type { Context } from '../../context.ts'
import { getPrivacySettings } from '../../notices/settings.ts'
import { DAY } from '../../platform/clock.ts'
import type { Queries } from '../../platform/database/database.ts'
import { findClock } from '../../test-clocks/test-clocks.ts'

/** The campaign of a candidate's link, as far as the end of the link depends on it. */
export interface CampaignOfLink {
  org_id: string
  hold: 'paused' | 'archived' | null
  completed_at: Date | null
  test_clock_id: string | null
}

/** Returns whether the campaign of a link was archived, or was completed some time ago. */
export async function hasLinkExpired(
  queries: Queries,
  clock: Context['clock'],
  { org_id, hold, completed_at, test_clock_id }: CampaignOfLink,
): Promise<boolean> {
  if (hold === 'archived') return true
  if (completed_at === null) return false
  const { link_days: linkDays } = await getPrivacySettings(queries, org_id)
  return (await findClock(queries, clock, test_clock_id)).now() >= completed_at.getTime() + linkDays * DAY
}
