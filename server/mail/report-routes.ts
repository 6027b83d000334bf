import type { FastifyRequest } from 'fastify'
import { callerAddress } from '../access/client-address.ts'
import type { Rule } from '../access/limits/limiter.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { formatSeconds } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { readRawBody } from '../platform/http/body.ts'
import type { App } from '../platform/http/server.ts'
import { secretsEqual } from '../platform/secret-comparison.ts'
import { hashToken } from '../platform/token-hash.ts'
import { recordReport } from './mail.ts'
import { type EmailReport, type InboundEmail, readInboundEmail } from './reports.ts'
import type { FindUnsubscribeTarget } from './unsubscribe.ts'

/** Applies a report to a message that was sent to a candidate. Returns false if there is no such message. */
export type HandleMessageReport = (tx: Tx, messageId: string, report: EmailReport) => Promise<boolean>

interface ReportHandlers {
  findUnsubscribeTarget: FindUnsubscribeTarget
  handleMessageReport: HandleMessageReport
}

/** Reports contain the headers of an email, not its body. */
const MAX_REPORT_BYTES = 1024 * 1024
const WRONG_TOKEN_RULE: Rule = { name: 'wrong-mail-hook-tokens', kind: 'fixed', limit: 60, seconds: 60 }

/**
 * Receives the emails that mail servers send to the bounce address: bounces, complaints and requests to unsubscribe. The secret in the
 * path (MAIL_HOOK_TOKEN) authenticates the caller. Emails of other kinds are ignored, so that a mail server does not retry them.
 */
export function reportRoutes(app: App, context: Context, handlers: ReportHandlers): void {
  const { db, config, clock, limits, log } = context
  app.addHook('preParsing', async (request) => {
    if (request.is404) return
    const { token } = request.params as { token: string }
    if (config.mailHookToken === undefined || !secretsEqual(token, config.mailHookToken)) {
      const { rejectedBy, retryAfter } = await limits.limiter.take(
        callerAddress(request.ip),
        [WRONG_TOKEN_RULE],
        clock.now(),
      )
      if (rejectedBy !== undefined)
        throw problem('RATE_LIMITED', `Too many requests. Try again in ${formatSeconds(retryAfter)}.`, { retryAfter })
      throw problem('NOT_FOUND', 'Not found. Check MAIL_HOOK_TOKEN of the server and the token in the path.')
    }
    request.rawBody = await readRawBody(request.raw, MAX_REPORT_BYTES)
  })

  // Mailgun sends the raw email only to a URL that ends with `mime`.
  for (const path of ['/mail/:token', '/mail/:token/mime']) app.post(path, receiveEmail)

  async function receiveEmail(request: FastifyRequest) {
    const inboundEmail = await readInboundEmail(await readRawEmail(request))
    const isApplied = inboundEmail ? await db.transaction((tx) => applyInboundEmail(tx, inboundEmail)) : false
    if (inboundEmail && inboundEmail.kind !== 'unsubscribe')
      log.info({ email: inboundEmail.emailId, kind: inboundEmail.kind, applied: isApplied }, 'email report received')
    return { success: true as const, result: isApplied ? inboundEmail!.kind : 'ignored' }
  }

  async function applyInboundEmail(tx: Tx, inboundEmail: InboundEmail): Promise<boolean> {
    if (inboundEmail.kind === 'unsubscribe') {
      const target = await handlers.findUnsubscribeTarget(tx, hashToken(inboundEmail.token))
      await target?.unsubscribe(tx)
      return target !== undefined
    }
    return inboundEmail.emailId.startsWith('ML_')
      ? recordReport(tx, context, inboundEmail)
      : handlers.handleMessageReport(tx, inboundEmail.emailId, inboundEmail)
  }
}

/** Fields in which gateways that send forms put the raw email: Mailgun and SendGrid. */
const FORM_FIELDS = ['body-mime', 'email']

async function readRawEmail({ rawBody, headers }: FastifyRequest): Promise<Uint8Array> {
  const contentType = headers['content-type'] ?? ''
  if (!/^(multipart\/form-data|application\/x-www-form-urlencoded)\b/i.test(contentType)) return rawBody
  const form = await new Response(new Uint8Array(rawBody), { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => {
      throw problem(
        'VALIDATION_FAILED',
        'The body is not a valid form. Send the raw email with Content-Type: message/rfc822.',
      )
    })
  const field = FORM_FIELDS.map((name) => form.get(name)).find((value) => value !== null)
  if (field === undefined || field === null)
    throw problem(
      'VALIDATION_FAILED',
      `The form has no field with the raw email; expected ${FORM_FIELDS.join(' or ')}. Configure the gateway to send the whole MIME message.`,
    )
  return typeof field === 'string' ? Buffer.from(field) : new Uint8Array(await field.arrayBuffer())
}
