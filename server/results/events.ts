import { redactCandidacy } from '../campaigns/personal-values.ts'
import type { CandidateChange } from '../campaigns/progress.ts'
import { recordEvents } from '../events/record.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { resultRecord } from './record.ts'

/** Records an event for every candidate that completed, declined or failed, in the transaction of the change. */
export async function recordResultEvents(tx: Tx, changes: CandidateChange[], clock: Clock): Promise<void> {
  const changesByStatus = Map.groupBy(
    changes.filter((change) => change.ended),
    ({ orgId, mode, ended }) => `${orgId} ${mode} ${ended}`,
  )
  for (const group of changesByStatus.values()) {
    const { orgId, mode, ended: end } = group[0]!
    const records = group.map(({ candidate }) => resultRecord(candidate))
    const subjects = group.map(({ candidate }) => ({
      personId: candidate.person_id,
      key: candidate.person_key,
      redactedData: resultRecord(redactCandidacy(candidate)),
    }))
    await recordEvents(tx, { orgId, mode }, clock, `result.${end!}`, records, subjects)
  }
}
