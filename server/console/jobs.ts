import type { Context } from '../context.ts'
import { defineJob, type Worker } from '../platform/jobs/queue.ts'
import { deleteExpiredSessions } from './auth/sessions.ts'
import { emailSignInLink, sendSignInLink } from './auth/sign-in-emails.ts'
import { deleteExpiredLinks } from './auth/sign-in-links.ts'
import { remindOfExpiringKeys, remindOfExpiringKeysJob } from './organisation/key-expiry.ts'
import { deleteOldRequests } from './organisation/request-log.ts'

const cleanUpConsole = defineJob<Record<string, never>>('tidy-console')

export const consoleJobs = [emailSignInLink, cleanUpConsole, remindOfExpiringKeysJob]

export function handleConsoleJobs(worker: Worker, context: Context): void {
  const { db, clock } = context
  worker.handle(emailSignInLink, ({ email }) => db.transaction((tx) => sendSignInLink(tx, context, email)))
  worker.handle(cleanUpConsole, async () => {
    const now = clock.now()
    await db.transaction((tx) => deleteExpiredSessions(tx, now))
    await db.transaction((tx) => deleteExpiredLinks(tx, now))
    await db.transaction((tx) => deleteOldRequests(tx, now))
  })
  worker.schedule(cleanUpConsole, '31 * * * *')
  worker.handle(remindOfExpiringKeysJob, () => db.transaction((tx) => remindOfExpiringKeys(tx, context)))
  worker.schedule(remindOfExpiringKeysJob, '11 * * * *')
}
