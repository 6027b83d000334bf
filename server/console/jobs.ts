import type { Context } from '../context.ts'
import { defineJob, type Worker } from '../platform/jobs/queue.ts'
import { deleteEndedSessions } from './auth/sessions.ts'
import { mailSignInLink, sendSignInLink } from './auth/sign-in-emails.ts'
import { deleteOldLinks } from './auth/sign-in-links.ts'
import { startTellingOwners } from './organisation/failing-endpoints.ts'
import { deleteOldRequests } from './organisation/request-log.ts'

const tidyConsole = defineJob<Record<string, never>>('tidy-console')

export const consoleJobs = [mailSignInLink, tidyConsole]

export function handleConsoleJobs(worker: Worker, context: Context): void {
  const { db, clock } = context
  worker.handle(mailSignInLink, ({ email }) => db.transaction((tx) => sendSignInLink(tx, context, email)))
  worker.handle(tidyConsole, async () => {
    const now = clock.now()
    await db.transaction((tx) => deleteEndedSessions(tx, now))
    await db.transaction((tx) => deleteOldLinks(tx, now))
    await db.transaction((tx) => deleteOldRequests(tx, now))
  })
  worker.schedule(tidyConsole, '31 * * * *')
  worker.run(() => startTellingOwners(context))
}
