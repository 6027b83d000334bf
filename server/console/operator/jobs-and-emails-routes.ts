import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import {
  type EmailSummary,
  emailKinds,
  emailRecipientCondition,
  emailStatuses,
  getEmail,
  HIDDEN_CODE,
  listEmails,
} from '../../mail/mail.ts'
import type { Queries } from '../../platform/database/database.ts'
import { listOf, PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import {
  type DeadLetter,
  type DeadLetterPosition,
  deadLetterQueues,
  listDeadLetters,
} from '../../platform/jobs/dead-letters.ts'
import { jobStates, type ListedJob, listJobs, retryJob } from '../../platform/jobs/queued-jobs.ts'
import type { RequestLogger } from '../../request-log/request-log.ts'
import { createReadRecorder, recordRequestAudit, requireConfirmed } from '../auth/guards.ts'
import { emailRecord } from '../organisation/verification-routes.ts'
import { countedListOf, countUpToLimit, paginate } from '../paginate.ts'
import { EmailRecord, successResponse } from '../schema.ts'
import { findActiveCooldowns, findRecentlyRateLimitedKeys } from './cooldowns.ts'
import { discard, retryNow } from './dead-letters.ts'
import {
  ActiveLimits,
  DeadLetterRecord,
  EmailDetails,
  EmailFilters,
  JobQueue,
  JobRecord,
  ServerStatus,
} from './schema.ts'
import { operatorStatus } from './status.ts'

const JobParams = Type.Object({
  queue: Type.String({ pattern: '^[a-z][a-z0-9-]{0,99}$' }),
  job_id: Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
})
const DeadLetterParams = Type.Object({
  queue: Type.Enum([...deadLetterQueues]),
  subject_id: Type.String({ minLength: 1, maxLength: 100 }),
})
const JobsQuery = Type.Object({
  ...PageQuery.properties,
  state: Type.Enum([...jobStates], { default: 'failed' }),
  queue: Type.Optional(Type.String({ maxLength: 100 })),
})
const EmailsQuery = Type.Object({
  ...PageQuery.properties,
  kind: Type.Optional(Type.Enum([...emailKinds])),
  status: Type.Optional(Type.Enum([...emailStatuses])),
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 254, description: "Part of the recipient's address." })),
})

const EmailParams = Type.Object({ mail_id: Type.String({ pattern: '^ML_[A-Z0-9]{10,40}$' }) })

/** Headers that sandbox the HTML of an email, which contains untrusted text: inline styles and images only, no scripts. */
const EMAIL_HTML_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox",
  'referrer-policy': 'no-referrer',
}

/** Routes for the server's status, its jobs, dead letters, active limits and emails. */
export function jobAndEmailRoutes(app: App, context: Context, requestLogger: RequestLogger): void {
  const { db, vault, queue, clock } = context
  const config = { role: 'operator' } as const
  const recordRead = createReadRecorder(context)

  app.get('/operator/now', { config, schema: { response: { 200: success(ServerStatus) } } }, async () => {
    await requestLogger.flush()
    return successResponse('Server status', await operatorStatus(context))
  })

  app.get('/operator/queues', { config, schema: { response: { 200: success(listOf(JobQueue)) } } }, async () => {
    const queueDepths = await queue.depths()
    const items = queueDepths.map(({ oldestSeconds, ...depth }) => ({ ...depth, oldest_seconds: oldestSeconds }))
    return successResponse('Queues', { items, next_cursor: null })
  })

  app.get(
    '/operator/jobs',
    { config, schema: { querystring: JobsQuery, response: { 200: success(listOf(JobRecord)) } } },
    async ({ query }) => {
      const { state, queue: name, ...page } = query
      const resultPage = await paginate(
        vault,
        `jobs ${state} ${name ?? ''}`,
        page,
        (after: { at: string; id: string } | undefined, limit) =>
          listJobs(db.queries, { state, queue: name, after, limit }),
        ({ created_at, job_id }) => ({ at: created_at.toISOString(), id: job_id }),
        jobRecord,
      )
      return successResponse('Jobs', resultPage)
    },
  )

  app.post(
    '/operator/jobs/:queue/:job_id/retry',
    { config, schema: { params: JobParams, response: { 200: success(JobRecord) } } },
    async (request) => {
      const { queue: name, job_id } = request.params
      const job = await db.transaction(async (tx) => {
        const retriedJob = await retryJob(tx, name, job_id)
        if (retriedJob) await recordRequestAudit(tx, context, request, 'job.retry', job_id, { queue: name })
        return retriedJob
      })
      if (!job) throw problem('CONFLICT', 'This job does not exist or has not failed, so it cannot be retried.')
      return successResponse('Job queued for retry', jobRecord(job))
    },
  )

  app.get(
    '/operator/dead-letters',
    { config, schema: { querystring: PageQuery, response: { 200: success(listOf(DeadLetterRecord)) } } },
    async ({ query }) => {
      const resultPage = await paginate(
        vault,
        'dead letters',
        query,
        (after: DeadLetterPosition | undefined, limit) => listDeadLetters(db.queries, { after, limit }),
        ({ first_failed_at, queue: name, subject_id }) => ({
          at: first_failed_at.toISOString(),
          queue: name,
          id: subject_id,
        }),
        deadLetterRecord,
      )
      return successResponse('Dead letters', resultPage)
    },
  )

  for (const [action, apply] of Object.entries({ retry: retryNow, discard })) {
    app.post(
      `/operator/dead-letters/:queue/:subject_id/${action}`,
      { config, schema: { params: DeadLetterParams, response: { 200: success(DeadLetterRecord) } } },
      async (request) => {
        const { queue: name, subject_id } = request.params
        const letter = await db.transaction(async (tx) => {
          const changedLetter = await apply(tx, clock, name, subject_id)
          await recordRequestAudit(tx, context, request, `dead_letter.${action}`, subject_id, { queue: name })
          return changedLetter
        })
        return successResponse(action === 'retry' ? 'Retry scheduled' : 'Discarded', deadLetterRecord(letter))
      },
    )
  }

  app.get('/operator/limits', { config, schema: { response: { 200: success(ActiveLimits) } } }, async () => {
    await requestLogger.flush()
    const rateLimitedKeys = await findRecentlyRateLimitedKeys(context)
    const orgIdByKey = new Map(rateLimitedKeys.map(({ key_id, org_id }) => [key_id, org_id]))
    const cooldowns = await findActiveCooldowns(context, [...orgIdByKey.keys()])
    const limitedVisitors = await context.limits.limiter.listLimited(clock.now())
    return successResponse('Active limits', {
      cooldowns: cooldowns.map(({ key_id, until }) => ({
        key_id,
        org_id: orgIdByKey.get(key_id)!,
        until: new Date(until).toISOString(),
      })),
      visitors: limitedVisitors.map(({ caller, rule, until }) => ({
        address: caller,
        rule,
        until: new Date(until).toISOString(),
      })),
    })
  })

  app.get('/operator/mail-filters', { config, schema: { response: { 200: success(EmailFilters) } } }, async () =>
    successResponse('Email filters', { kinds: [...emailKinds], statuses: [...emailStatuses] }),
  )

  app.get(
    '/operator/mails',
    { config, schema: { querystring: EmailsQuery, response: { 200: success(countedListOf(EmailRecord)) } } },
    async (request) => {
      const { kind, status, q, ...page } = request.query
      await recordRead(request, { action: 'email.list', details: { kind, status, ...(q ? { searched: true } : {}) } })
      const resultPage = await paginate(
        vault,
        `mails ${JSON.stringify([kind, status, q])}`,
        page,
        (before: string | undefined, limit) =>
          listEmails(db.queries, {
            limit,
            ...(before ? { beforeId: before } : {}),
            ...(kind ? { kind } : {}),
            ...(status ? { status } : {}),
            ...(q ? { recipient: q } : {}),
          }),
        ({ mail_id }) => mail_id,
        emailRecord,
      )
      const conditions = [
        sql`true`,
        ...(kind ? [sql`kind = ${kind}`] : []),
        ...(status ? [sql`status = ${status}`] : []),
        ...(q ? [emailRecipientCondition(q)] : []),
      ]
      const counted =
        page.cursor === undefined
          ? await countUpToLimit(db.queries, sql`mails`, sql.join(conditions, sql` and `))
          : { total: null }
      return successResponse('Emails', { ...resultPage, ...counted })
    },
  )

  app.get(
    '/operator/mails/:mail_id',
    { config, schema: { params: EmailParams, response: { 200: success(EmailDetails) } } },
    async (request) => {
      const {
        subject,
        text,
        html: _html,
        unsubscribeUrl: _url,
        replyTo,
        ...head
      } = await readEmail(request, request.params.mail_id)
      return successResponse('Email', {
        ...emailRecord(head),
        org_name: await findOrganisationName(db.queries, head.org_id),
        subject,
        text,
        ...(replyTo ? { replyTo } : {}),
      })
    },
  )

  app.get('/operator/mails/:mail_id/html', { config, schema: { params: EmailParams } }, async (request, reply) => {
    const { html } = await readEmail(request, request.params.mail_id)
    return reply.type('text/html; charset=utf-8').headers(EMAIL_HTML_HEADERS).send(html)
  })

  /** Returns an email, after recording that the operator reads it. Emails with sign-in links and codes require a recent sign-in. */
  async function readEmail(request: FastifyRequest, emailId: string) {
    const email = await getEmail(db.queries, vault, emailId)
    if (email.kind === 'sign_in' || email.kind === 'invitation') requireConfirmed(request.session, clock.now())
    const { kind } = email
    await recordRead(request, { action: 'email.read', subject: emailId, details: { kind }, scope: orgScopeOf(email) })
    return kind === 'confirmation_code' && email.mode === 'live'
      ? { ...email, text: HIDDEN_CODE, html: HIDDEN_CODE }
      : email
  }
}

async function findOrganisationName(queries: Queries, orgId: string | null): Promise<string | null> {
  const { rows } = await sql<{ name: string }>`select name from organisations where org_id = ${orgId}`.execute(queries)
  return rows[0]?.name ?? null
}

function orgScopeOf({ org_id, mode }: EmailSummary) {
  return { orgId: org_id ?? undefined, mode: mode ?? undefined }
}

function jobRecord({ created_at, start_after, completed_at, ...job }: ListedJob) {
  return {
    ...job,
    created_at: created_at.toISOString(),
    start_after: start_after.toISOString(),
    completed_at: completed_at?.toISOString() ?? null,
  }
}

function deadLetterRecord({ first_failed_at, last_failed_at, retry_at, ...letter }: DeadLetter) {
  return {
    ...letter,
    first_failed_at: first_failed_at.toISOString(),
    last_failed_at: last_failed_at.toISOString(),
    retry_at: retry_at?.toISOString() ?? null,
  }
}
