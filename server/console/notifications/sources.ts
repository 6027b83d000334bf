import type { OrgScope } from '../../access/caller.ts'
import type { FailedReport } from '../../ats/reports/reports.ts'
import type { MessageChange } from '../../campaigns/contact/message-changes.ts'
import type { SpentCredits } from '../../campaigns/credits.ts'
import type { CandidateChange } from '../../campaigns/progress.ts'
import { nameKey } from '../../catalogue/names.ts'
import type { ApprovedSkillData, SkillRequest } from '../../catalogue/skill-requests.ts'
import { loadMessageErrors } from '../../channels/failure-reasons.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { resultOutput } from '../../results/record.ts'
import type { HealthDeps } from '../../webhooks/delivery/health.ts'
import { emailOwnersAboutFailingEndpoint } from '../organisation/failing-endpoints.ts'
import { addNotifications, type NewNotification } from './notifications.ts'

/** Adds notifications about candidates whose conversation has ended, one per campaign and day. */
export async function notifyOfResults(tx: Tx, changes: CandidateChange[], clock: Clock): Promise<void> {
  const ended = changes.filter((change) => change.ended)
  for (const group of groupByScope(ended)) {
    const counts = new Map<string, NewNotification & { count: number }>()
    for (const { campaignId, ended: status, candidate } of group) {
      const type = status === 'completed' ? typeOfCompleted(resultOutput(candidate).qualified) : 'candidates_ended'
      const entry = counts.get(`${type} ${campaignId}`) ?? { type, subject: campaignId, count: 0 }
      entry.count++
      counts.set(`${type} ${campaignId}`, entry)
    }
    await addNotifications(tx, clock, group[0]!, [...counts.values()])
  }
}

/** Returns the type of notifications about a completed result. Undecided candidates have their own: they may well be qualified. */
export function typeOfCompleted(qualified: boolean | null) {
  if (qualified === null) return 'candidates_undecided'
  return qualified ? 'candidates_qualified' : 'candidates_ended'
}

/** Reasons for failures that concern one person, and not the organisation's account. */
const REASONS_OF_PERSONS: readonly string[] = [
  'no_account',
  'not_answered',
  'unavailable',
  'opted_out',
  'too_many_marketing',
  'window_closed',
  'preference',
]

/** Adds a notification when messages of a channel fail for a reason that the organisation can remove, one per reason and day. */
export async function notifyOfFailedMessages(tx: Tx, changes: MessageChange[], clock: Clock): Promise<void> {
  const failed = changes.filter(({ event, reason }) => event === 'failed' && !REASONS_OF_PERSONS.includes(reason))
  const { reasons } = loadMessageErrors()
  for (const { orgId, channel, reason } of failed)
    await addNotifications(
      tx,
      clock,
      { orgId, mode: 'live' },
      [
        {
          type: 'messages_failed',
          subject: `${channel} ${reason}`,
          details: { channel, reason: reasons[reason]?.title ?? reason },
        },
      ],
      { once: true },
    )
}

/** Emails the owners about a failing endpoint, and adds a notification. */
export async function notifyOfFailingEndpoint(tx: Tx, deps: HealthDeps, webhookId: string): Promise<void> {
  await emailOwnersAboutFailingEndpoint(tx, deps, webhookId)
  const { org_id, mode, url } = await tx
    .selectFrom('webhooks')
    .select(['org_id', 'mode', 'url'])
    .where('webhook_id', '=', webhookId)
    .executeTakeFirstOrThrow()
  await addNotifications(tx, deps.clock, { orgId: org_id, mode: mode as OrgScope['mode'] }, [
    { type: 'endpoint_failing', subject: webhookId, details: { url } },
  ])
}

/** Adds a notification about a report to an ATS that failed permanently. */
export async function notifyOfFailedReport(tx: Tx, clock: Clock, report: FailedReport): Promise<void> {
  const { orgId, mode, connectionId, adapter } = report
  await addNotifications(tx, clock, { orgId, mode }, [
    { type: 'ats_report_failed', subject: connectionId, details: { adapter } },
  ])
}

/** Balances below this number are low. */
const LOW_BALANCE_CREDITS = 100

/** Adds a notification when the balance falls below the limit, and when it reaches zero. */
export async function notifyOfCredits(tx: Tx, clock: Clock, { scope, before, after }: SpentCredits): Promise<void> {
  if (after === 0) return addNotifications(tx, clock, scope, [{ type: 'credits_exhausted', subject: 'credits' }])
  if (before < LOW_BALANCE_CREDITS || after >= LOW_BALANCE_CREDITS) return
  await addNotifications(tx, clock, scope, [{ type: 'credits_low', subject: 'credits', details: { balance: after } }])
}

/** Adds a notification about a skill request that an operator approved or rejected. */
export async function notifyOfSkillRequest(
  tx: Tx,
  request: SkillRequest,
  clock: Clock,
  skill: ApprovedSkillData | undefined,
): Promise<void> {
  const { org_id: orgId, mode, request_id, name, name_key, status, rejection_reason: reason } = request
  const type = status === 'rejected' ? 'skill_request_rejected' : 'skill_request_approved'
  const isOtherSkill = skill !== undefined && nameKey(skill.name) !== name_key
  const details = { name, ...(isOtherSkill ? { skill: skill.name } : {}), ...(reason === null ? {} : { reason }) }
  await addNotifications(tx, clock, { orgId, mode }, [{ type, subject: request_id, details }])
}

function groupByScope<T extends OrgScope>(changes: T[]): T[][] {
  return [...Map.groupBy(changes, ({ orgId, mode }) => `${orgId} ${mode}`).values()]
}
