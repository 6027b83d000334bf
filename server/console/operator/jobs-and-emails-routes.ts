import { Type } from 'typebox'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { getMail, listMails, mailKinds, mailStatuses } from '../../mail/mail.ts'
import type { App } from '../../platform/http/server.ts'
import { jobStates, type ListedJob, listJobs, retryJob } from '../../platform/jobs/queued-jobs.ts'
import { noteChange } from '../auth/guards.ts'
import type { RequestLog } from '../organisation/request-log.ts'
import { mailRecord } from '../organisation/verification-routes.ts'
import { pageOf } from '../paginate.ts'
import { answer, PageQuery } from '../schema.ts'
import { cooldownsOf, lately429 } from './cooldowns.ts'
import { stateNow } from './status.ts'

const JobParams = Type.Object({
  queue: Type.String({ pattern: '^[a-z][a-z0-9-]{0,99}$' }),
  job_id: Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
})
const JobsQuery = Type.Object({
  ...PageQuery.properties,
  state: Type.Enum([...jobStates], { default: 'failed' }),
  queue: Type.Optional(Type.String({ maxLength: 100 })),
})
const MailsQuery = Type.Object({
  ...PageQuery.properties,
  kind: Type.Optional(Type.Enum([...mailKinds])),
  status: Type.Optional(Type.Enum([...mailStatuses])),
})

const MailParams = Type.Object({ mail_id: Type.String({ pattern: '^ML_[A-Z0-9]{10,40}$' }) })

/** Strangers wrote parts of it: it has its own styles and pictures and nothing else, in a box without a way out. */
const MAIL_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox",
  'referrer-policy': 'no-referrer',
}

/** What the machine is doing: jobs, limits in force, and the mails that it was asked for. */
export function workRoutes(app: App, context: Context, log: RequestLog): void {
  const { db, vault, queue, clock } = context
  const config = { role: 'operator' } as const

  app.get('/operator/now', { config }, async () => {
    await log.flush()
    return answer('The state of things', await stateNow(context))
  })

  app.get('/operator/queues', { config }, async () => {
    const depths = await queue.depths()
    const items = depths.map(({ oldestSeconds, ...depth }) => ({ ...depth, oldest_seconds: oldestSeconds }))
    return answer('Queues', { items, next_cursor: null })
  })

  app.get('/operator/jobs', { config, schema: { querystring: JobsQuery } }, async ({ query }) => {
    const { state, queue: name, ...page } = query
    const found = await pageOf(
      vault,
      `jobs ${state} ${name ?? ''}`,
      page,
      (after: { at: string; id: string } | undefined, limit) =>
        listJobs(db.queries, { state, queue: name, after, limit }),
      ({ created_at, job_id }) => ({ at: created_at.toISOString(), id: job_id }),
      jobRecord,
    )
    return answer('Jobs', found)
  })

  app.post('/operator/jobs/:queue/:job_id/retry', { config, schema: { params: JobParams } }, async (request) => {
    const { queue: name, job_id } = request.params
    const job = await db.transaction(async (tx) => {
      const again = await retryJob(tx, name, job_id)
      if (again) await noteChange(tx, context, request, 'job.retry', job_id, { queue: name })
      return again
    })
    if (!job) throw problem('CONFLICT', 'This job has not failed, or is gone: there is nothing to try again.')
    return answer('The job is tried again', jobRecord(job))
  })

  app.get('/operator/limits', { config }, async () => {
    await log.flush()
    const refused = await lately429(context)
    const owners = new Map(refused.map(({ key_id, org_id }) => [key_id, org_id]))
    const cooldowns = await cooldownsOf(context, [...owners.keys()])
    const visitors = await context.limits.limiter.limited(clock.now())
    return answer('Limits in force', {
      cooldowns: cooldowns.map(({ key_id, until }) => ({
        key_id,
        org_id: owners.get(key_id)!,
        until: new Date(until).toISOString(),
      })),
      visitors: visitors.map(({ caller, rule, until }) => ({
        address: caller,
        rule,
        until: new Date(until).toISOString(),
      })),
    })
  })

  app.get('/operator/mail-filters', { config }, async () =>
    answer('What mails are told apart by', { kinds: [...mailKinds], statuses: [...mailStatuses] }),
  )

  app.get('/operator/mails', { config, schema: { querystring: MailsQuery } }, async ({ query }) => {
    const { kind, status, ...page } = query
    const found = await pageOf(
      vault,
      `mails ${kind ?? ''} ${status ?? ''}`,
      page,
      (before: string | undefined, limit) =>
        listMails(db.queries, {
          limit,
          ...(before ? { before } : {}),
          ...(kind ? { kind } : {}),
          ...(status ? { status } : {}),
        }),
      ({ mail_id }) => mail_id,
      mailRecord,
    )
    return answer('Mails', found)
  })

  app.get('/operator/mails/:mail_id', { config, schema: { params: MailParams } }, async ({ params }) => {
    const { subject, text, html: _, replyTo, ...head } = await getMail(db.queries, vault, params.mail_id)
    return answer('Mail', { ...mailRecord(head), subject, text, ...(replyTo ? { replyTo } : {}) })
  })

  app.get('/operator/mails/:mail_id/html', { config, schema: { params: MailParams } }, async ({ params }, reply) => {
    const { html } = await getMail(db.queries, vault, params.mail_id)
    return reply.type('text/html; charset=utf-8').headers(MAIL_HEADERS).send(html)
  })
}

function jobRecord({ created_at, start_after, completed_at, ...job }: ListedJob) {
  return {
    ...job,
    created_at: created_at.toISOString(),
    start_after: start_after.toISOString(),
    completed_at: completed_at?.toISOString() ?? null,
  }
}
