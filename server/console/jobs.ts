import type { Context } from '../context.ts'
import { deleteEndedEmbedSessions } from '../embeds/embed-sessions.ts'
import { eraseOrganisationJob } from '../offboarding/erase-organisation.ts'
import { defineJob, type Worker } from '../platform/jobs/queue.ts'
import { deleteEndedLinks } from '../reports/report-links.ts'
import { publishHead } from './audit-chain.ts'
import { deleteExpiredSessions } from './auth/sessions.ts'
import { emailSignInLink, sendSignInLink } from './auth/sign-in-emails.ts'
import { deleteExpiredLinks } from './auth/sign-in-links.ts'
import { refreshOutdatedLists } from './candidates/candidate-list.ts'
import { emailNotifications, emailNotificationsJob } from './notifications/digests.ts'
import { deleteOldNotifications } from './notifications/notifications.ts'
import { remindOfExpiringKeys, remindOfExpiringKeysJob } from './organisation/key-expiry.ts'
import { runErasureJob } from './privacy/organisation-erasure.ts'
import { deleteExpiredChallenges } from './second-factors/challenges.ts'

const cleanUpConsole = defineJob<Record<string, never>>('tidy-console')

const publishAuditHead = defineJob<Record<string, never>>('publish-audit-head')

const refreshCandidateLists = defineJob<Record<string, never>>('refresh-candidate-lists')

export const consoleJobs = [
  emailSignInLink,
  cleanUpConsole,
  publishAuditHead,
  remindOfExpiringKeysJob,
  refreshCandidateLists,
  emailNotificationsJob,
  eraseOrganisationJob,
]

export function handleConsoleJobs(worker: Worker, context: Context): void {
  const { db, clock } = context
  worker.handle(emailSignInLink, async ({ email, language, source = {}, requestId = '' }) => {
    if (await db.transaction((tx) => sendSignInLink(tx, context, { email, language }))) return
    await context.audit.recordFailure({ action: 'session.fail', reason: 'unknown address', email, source, requestId })
  })
  worker.handle(cleanUpConsole, async () => {
    const now = clock.now()
    await db.transaction((tx) => deleteExpiredSessions(tx, now))
    await db.transaction((tx) => deleteExpiredLinks(tx, now))
    await db.transaction((tx) => deleteExpiredChallenges(tx, now))
    await db.transaction((tx) => deleteEndedLinks(tx, now))
    await db.transaction((tx) => deleteEndedEmbedSessions(tx, now))
    await db.transaction((tx) => deleteOldNotifications(tx, now))
  })
  worker.schedule(cleanUpConsole, '31 * * * *')
  worker.handle(remindOfExpiringKeysJob, () => db.transaction((tx) => remindOfExpiringKeys(tx, context)))
  worker.schedule(remindOfExpiringKeysJob, '11 * * * *')
  worker.handle(refreshCandidateLists, (_, signal) => refreshOutdatedLists(context, signal))
  worker.schedule(refreshCandidateLists, '* * * * *')
  worker.handle(emailNotificationsJob, () => emailNotifications(context))
  worker.schedule(emailNotificationsJob, '* * * * *')
  worker.handle(eraseOrganisationJob, (payload, signal) => runErasureJob(context, payload, signal))
  worker.handle(publishAuditHead, () => publishHead(context))
  worker.schedule(publishAuditHead, '5 0 * * *')
}
