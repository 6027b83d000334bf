import { onCandidateChange } from '../campaigns/progress.ts'
import { recordEvents } from '../events/record.ts'
import { resultRecord } from './record.ts'

/** Partners are told of every end, in the transaction that brings it. Importing this module is what makes it so. */
onCandidateChange(async (tx, changes, clock) => {
  const ended = Map.groupBy(
    changes.filter((change) => change.ended),
    ({ orgId, mode, ended }) => `${orgId} ${mode} ${ended}`,
  )
  for (const group of ended.values()) {
    const { orgId, mode, ended: end } = group[0]!
    const records = group.map(({ candidate }) => resultRecord(candidate))
    await recordEvents(tx, { orgId, mode }, clock, `result.${end!}`, records)
  }
})
