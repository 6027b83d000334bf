import type { Context } from '../../context.ts'
import { eraseOrganisation, eraseOrganisationJob } from '../../offboarding/erase-organisation.ts'
import { MINUTE } from '../../platform/clock.ts'
import { recordAuditEntry } from '../audit.ts'

/** Limits the time of one run of the job; the next run continues. */
const MAX_RUN_MS = 20 * MINUTE

/** Erases an organisation whose erasure was requested, and records the end of the erasure in the audit log. */
export async function runErasureJob(
  context: Context,
  { org_id: orgId, basis, requested_by: requestedBy }: { org_id: string; basis: string; requested_by: string },
  signal: AbortSignal,
): Promise<void> {
  const { db, clock, queue } = context
  const endsAt = performance.now() + MAX_RUN_MS
  const run = await eraseOrganisation(
    db,
    context,
    orgId,
    { basis, requestedBy },
    {
      shouldStop: () => signal.aborted || performance.now() > endsAt,
      onErased: (tx, erased) =>
        recordAuditEntry(tx, clock, {
          actor: 'server',
          orgId,
          action: 'org.erase',
          subject: orgId,
          details: { ...erased, basis },
        }),
    },
  )
  if (run.isInterrupted)
    await db.transaction((tx) =>
      queue.enqueue(tx, eraseOrganisationJob, { org_id: orgId, basis, requested_by: requestedBy }, { key: orgId }),
    )
}
