import { type RawBuilder, sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import type { Context } from '../../context.ts'
import { type RetentionClass, retentionClasses } from '../../notices/retention-classes.ts'
import { personAudited } from '../../people/audit.ts'
import { erasePerson } from '../../people/erasure.ts'
import type { ErasureDeps } from '../../people/identity/hooks.ts'
import { DAY } from '../../platform/clock.ts'
import type { TimedWork } from '../../test-clocks/runner.ts'
import { isNotHeld, isOnClock, peopleActivity, periodOf, shortestPeriodDays } from './due.ts'

const BATCH_SIZE = 500
/** Reviewers no longer need the files of students after the session has ended. Documents name this period. */
const PROOF_FILE_DAYS = 30

export type RetentionCounts = Record<RetentionClass, number>

export type RetentionDeps = Pick<Context, 'db' | 'log'> & ErasureDeps

/**
 * Erases data whose retention period has ended, in batches of one transaction each: the rows of a test clock, or all rows that are
 * processed in real time. It is safe to run it again, or in several processes at the same time.
 */
export async function enforceRetention(
  deps: RetentionDeps,
  { testClockId, isStopped = () => false }: { testClockId?: string; isStopped?: () => boolean } = {},
): Promise<RetentionCounts> {
  const counts: RetentionCounts = { conversations: 0, answers: 0, contact_data: 0, mails: 0, request_log: 0, audit: 0 }
  const steps: Record<RetentionClass, () => Promise<number>> = {
    conversations: () => eraseConversations(deps, testClockId),
    answers: () => eraseAnswers(deps, testClockId),
    contact_data: () => erasePeople(deps, testClockId, isStopped),
    mails: () => deleteEmails(deps),
    request_log: () => deleteRequests(deps),
    audit: () => eraseAuditValues(deps),
  }
  // Emails, requests and audit entries have no test clock.
  const names = testClockId === undefined ? retentionClasses : (['conversations', 'answers', 'contact_data'] as const)
  for (const name of names) {
    for (;;) {
      if (isStopped()) return counts
      const erased = await steps[name]()
      counts[name] += erased
      if (name === 'contact_data' || erased < BATCH_SIZE) break
    }
  }
  for (;;) {
    if (isStopped()) return counts
    const deleted = await deleteProofFiles(deps, testClockId)
    if (deleted > 0) deps.log.info({ proof_files: deleted }, 'files of ended sessions deleted')
    if (deleted < BATCH_SIZE) break
  }
  if (Object.values(counts).some((count) => count > 0)) deps.log.info({ ...counts }, 'retention periods enforced')
  return counts
}

/** Deletes the message texts of candidates whose retention period has ended. */
function eraseConversations({ db, clock }: RetentionDeps, testClockId: string | undefined): Promise<number> {
  return db.transaction(async (tx) => {
    const now = new Date(clock.now())
    const { rows } = await sql<{ candidate_id: string }>`
      update candidate_progress set messages_erased_at = ${now} where candidate_id in (
        ${await dueCandidates('conversations', 'messages_erased_at')})
      returning candidate_id`.execute(tx)
    await sql`update messages set content = null, personal = null
      where state not in ('queued', 'sending') and candidate_id = any (${rows.map(({ candidate_id }) => candidate_id)}::text[])`.execute(
      tx,
    )
    return rows.length

    async function dueCandidates(name: RetentionClass, column: string): Promise<RawBuilder<unknown>> {
      return selectDueCandidates(name, column, now, await shortestPeriodDays(tx, name), testClockId)
    }
  })
}

/** Deletes the free-text answers of candidates. Verdicts and scores remain. */
function eraseAnswers({ db, clock }: RetentionDeps, testClockId: string | undefined): Promise<number> {
  return db.transaction(async (tx) => {
    const now = new Date(clock.now())
    const due = selectDueCandidates(
      'answers',
      'answers_erased_at',
      now,
      await shortestPeriodDays(tx, 'answers'),
      testClockId,
    )
    const { rows } = await sql`update candidate_progress set answers_erased_at = ${now}, personal = null, moved = true
      where candidate_id in (${due}) returning 1`.execute(tx)
    return rows.length
  })
}

function selectDueCandidates(
  name: RetentionClass,
  column: string,
  now: Date,
  shortestDays: number,
  testClockId: string | undefined,
): RawBuilder<unknown> {
  return sql`
    select p.candidate_id from candidate_progress p join candidates c using (candidate_id)
      join campaigns g on g.campaign_id = p.campaign_id left join people o on o.person_id = c.person_id
    where p.status <> 'pending' and p.${sql.ref(column)} is null and p.completed_at <= ${new Date(now.getTime() - shortestDays * DAY)}
      and p.completed_at + ${periodOf(name, sql`p.org_id`)} <= ${now} and o.legal_hold is null and ${isNotHeld(sql`p.org_id`)}
      and ${isOnClock(sql`g.test_clock_id`, testClockId)}
    order by p.candidate_id limit ${BATCH_SIZE} for update of p skip locked`
}

/** Thrown to roll back the erasure of a person who became active again at the same time. */
class ActiveAgainError extends Error {}

/** Erases the people who were not active in the retention period, each in a transaction that checks the activity again. */
async function erasePeople(
  deps: RetentionDeps,
  testClockId: string | undefined,
  isStopped: () => boolean,
): Promise<number> {
  const { db, clock } = deps
  const cutoff = new Date(clock.now() - (await shortestPeriodDays(db.queries, 'contact_data')) * DAY)
  let erasedCount = 0
  let lastId = ''
  for (;;) {
    const { rows } = await selectDuePeople(
      sql`o.person_id > ${lastId} and ${testClockId === undefined ? sql`o.created_at <= ${cutoff}` : sql`o.mode = 'test'`}`,
    ).execute(db.queries)
    for (const { person_id: personId, org_id: orgId, mode } of rows) {
      if (isStopped()) return erasedCount
      try {
        if (await eraseIfDue({ orgId, mode }, personId)) erasedCount++
      } catch (error) {
        // The others must not wait for a person who cannot be erased. The next run tries again.
        deps.log.error(
          { err: error, person_id: personId },
          'a person could not be erased at the end of the retention period',
        )
      }
    }
    if (rows.length < BATCH_SIZE) return erasedCount
    lastId = rows.at(-1)!.person_id
  }

  async function eraseIfDue(scope: OrgScope, personId: string): Promise<boolean> {
    try {
      return await db.transaction(async (tx) => {
        const { rows: stillDue } = await selectDuePeople(sql`o.person_id = ${personId}`).execute(tx)
        if (stillDue.length === 0) return false
        await erasePerson(tx, deps, scope, personId, { basis: 'retention period', requestedBy: 'server' })
        await personAudited.run(tx, clock, {
          scope,
          who: undefined,
          action: 'person.erase',
          subject: personId,
          details: { requested_by: 'server', basis: 'retention period' },
        })
        // `erasePerson` has locked the person, who may have become active again before the lock.
        const { rows: recent } = await sql`
          select 1 from candidates where person_id = ${personId} and enrolled_at > ${cutoff}
          union all select 1 from verification_sessions where person_id = ${personId} and created_at > ${cutoff}
          union all select 1 from verification_reviews where person_id = ${personId} and requested_at > ${cutoff}
          union all select 1 from ats_orders where person_id = ${personId} and created_at > ${cutoff}`.execute(tx)
        if (recent.length > 0) throw new ActiveAgainError()
        return true
      })
    } catch (error) {
      if (error instanceof ActiveAgainError) return false
      throw error
    }
  }

  function selectDuePeople(where: RawBuilder<unknown>) {
    const now = new Date(clock.now())
    return sql<{ person_id: string; org_id: string; mode: 'test' | 'live' }>`
      select person_id, org_id, mode from (${peopleActivity(where)}) as d
      where clocks = 1 and active_at + ${periodOf('contact_data', sql`d.org_id`)} <= ${now}
        and ${isOnClock(sql`d.test_clock_id`, testClockId)}
      order by person_id limit ${BATCH_SIZE}`
  }
}

/** Deletes the photos and documents of students some time after the end of their session. The same period applies to all organisations. */
function deleteProofFiles({ db, clock }: RetentionDeps, testClockId: string | undefined): Promise<number> {
  return db.transaction(async (tx) => {
    const { rows } = await sql`delete from proof_files where file_id in (
        select d.file_id from (${dueProofFiles()}) as d
        where d.due_at <= ${new Date(clock.now())} and ${isOnClock(sql`d.test_clock_id`, testClockId)}
        limit ${BATCH_SIZE})
      returning 1`.execute(tx)
    return rows.length
  })
}

/**
 * Selects each file of a session that has ended and has no legal hold, with the time at which it is deleted. Sessions without a result end
 * when the session and the link of the reviewer have expired. Assessments can be left unfinished, and then keep their status.
 */
function dueProofFiles(): RawBuilder<unknown> {
  return sql`
    select f.file_id, s.test_clock_id,
      coalesce(s.completed_at, greatest(s.expires_at, s.updated_at, r.expires_at)) + make_interval(days => ${sql.lit(PROOF_FILE_DAYS)}) as due_at
    from proof_files f join verification_sessions s using (verification_id)
      left join verification_reviews r using (verification_id) join people o on o.person_id = s.person_id
    where s.status not in ('open', 'pending_review') and o.legal_hold is null and ${isNotHeld(sql`f.org_id`)}`
}

/** Deletes emails of organisations, except those that are still queued. */
function deleteEmails({ db, clock }: RetentionDeps): Promise<number> {
  return db.transaction(async (tx) => {
    const now = new Date(clock.now())
    const cutoff = new Date(clock.now() - (await shortestPeriodDays(tx, 'mails')) * DAY)
    const { rows } = await sql`delete from mails where mail_id in (
        select m.mail_id from mails m where m.org_id is not null and m.status <> 'queued' and m.created_at <= ${cutoff}
          and m.created_at + ${periodOf('mails', sql`m.org_id`)} <= ${now} and ${isNotHeld(sql`m.org_id`)}
          and not exists (select from people o where o.person_id = any (m.person_ids) and o.legal_hold is not null)
        order by m.mail_id limit ${BATCH_SIZE} for update skip locked)
      returning 1`.execute(tx)
    return rows.length
  })
}

function deleteRequests({ db, clock }: RetentionDeps): Promise<number> {
  return db.transaction(async (tx) => {
    const now = new Date(clock.now())
    const cutoff = new Date(clock.now() - (await shortestPeriodDays(tx, 'request_log')) * DAY)
    const { rows } = await sql`delete from request_log where id in (
        select l.id from request_log l where l.at <= ${cutoff} and l.at + ${periodOf('request_log', sql`l.org_id`)} <= ${now}
          and ${isNotHeld(sql`l.org_id`)}
        limit ${BATCH_SIZE} for update skip locked)
      returning 1`.execute(tx)
    return rows.length
  })
}

/** Erases the personal values of audit entries. The entries remain, and their hash chain stays valid. */
function eraseAuditValues({ db, clock }: RetentionDeps): Promise<number> {
  return db.transaction(async (tx) => {
    const now = new Date(clock.now())
    const cutoff = new Date(clock.now() - (await shortestPeriodDays(tx, 'audit')) * DAY)
    const { rows } = await sql`
      update audit_log set personal = (select jsonb_object_agg(key, 'null'::jsonb) from jsonb_object_keys(personal) as key)
      where audit_id in (
        select l.audit_id from audit_log l where l.at <= ${cutoff} and l.at + ${periodOf('audit', sql`l.org_id`)} <= ${now}
          and jsonb_path_exists(l.personal, '$.* ? (@ != null)') and ${isNotHeld(sql`l.org_id`)}
        order by l.audit_id limit ${BATCH_SIZE})
      returning 1`.execute(tx)
    return rows.length
  })
}

/** Erases the data of campaigns and sessions with a test clock at the end of their periods. */
export const retentionTimedWork: TimedWork = {
  dueTimes: () => sql`
    select g.test_clock_id, due.due_at from candidate_progress p join campaigns g using (campaign_id)
      join candidates c using (candidate_id) left join people o on o.person_id = c.person_id
      cross join lateral (
        select p.completed_at + ${periodOf('conversations', sql`p.org_id`)} as due_at where p.messages_erased_at is null
        union all
        select p.completed_at + ${periodOf('answers', sql`p.org_id`)} where p.answers_erased_at is null
      ) as due
    where g.test_clock_id is not null and p.status <> 'pending' and o.legal_hold is null and ${isNotHeld(sql`p.org_id`)}
    union all
    select test_clock_id, active_at + ${periodOf('contact_data', sql`d.org_id`)}
    from (${peopleActivity(sql`o.mode = 'test'`)}) as d
    where clocks = 1 and test_clock_id is not null and active_at < 'infinity'
    union all
    select test_clock_id, due_at from (${dueProofFiles()}) as f where test_clock_id is not null`,
  async processDue(context, testClockId, isStopped) {
    await enforceRetention(context, { testClockId, isStopped })
  },
}
