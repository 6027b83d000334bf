import type { Context } from '../context.ts'
import { defineJob, type Worker } from '../platform/queue.ts'
import { startTellingOwners } from './failing-endpoints.ts'
import { deleteOldLinks } from './links.ts'
import { deleteOldRequests } from './request-log.ts'
import { deleteEndedSessions } from './sessions.ts'
import { mailSignInLink, sendSignInLink } from './sign-in-mails.ts'

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
