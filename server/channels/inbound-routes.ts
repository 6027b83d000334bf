import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerAddress } from '../access/client-address.ts'
import type { Rule } from '../access/limits/limiter.ts'
import { Problem, problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { formatSeconds } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { bodyTimeoutMs, readRawBody } from '../platform/http/body.ts'
import { parseJson } from '../platform/http/json.ts'
import type { App } from '../platform/http/server.ts'
import { parseJsonOrUndefined } from '../platform/json.ts'
import { secretsEqual } from '../platform/secret-comparison.ts'
import { type ChannelName, channelNames } from './channel.ts'
import { type ChannelAccount, findAccount, recordWebhookCall } from './credentials.ts'
import { isFlowRequest, isStatusCallback } from './exotel/exotel.ts'
import { readExotelStatus } from './exotel/sms.ts'
import { gatherParameters, readExotelCallStatus, readKeys, readMessageId, spokenLanguages } from './exotel/voice.ts'
import { isGupshupCallback, readGupshupQuery, readGupshupReports } from './gupshup/sms.ts'
import type { InboundHandler, InboundStatus } from './inbound.ts'
import { recordReports } from './templates/register.ts'
import { readSms, readSmsStatus } from './twilio/sms.ts'
import { isSignedByTwilio, twilioCallbackUrl } from './twilio/twilio.ts'
import { emptyTwiml, hangUpTwiml, turnTwiml } from './twilio/twiml.ts'
import { readCallAnswer, readCallStatus } from './twilio/voice.ts'
import { saveMessagingLimit } from './whatsapp/limits.ts'
import { hasValidSignature, readWebhook, type WebhookItem } from './whatsapp/webhook.ts'

export const HOOKS_BASE = '/hooks'

/** WhatsApp batches many reports in one request; Twilio and Exotel send one small form. */
const MAX_JSON_BYTES = 3 * 1024 * 1024
const MAX_FORM_BYTES = 64 * 1024
/** Twilio sends about 50 fields; the signature covers them in the order of their names. */
const MAX_FORM_FIELDS = 500

/** A high limit, because a provider sends the callbacks of all its customers from few addresses. */
const REJECTED_RULE: Rule = { name: 'rejected-callbacks', kind: 'fixed', limit: 600, seconds: 60 }

interface HookParams {
  channel_id: string
  message_id: string
  /** The message authentication code in callbacks of Exotel and Gupshup. */
  code: string
}

/**
 * Webhooks of the providers. Signatures are verified over the raw body before parsing, and changes are committed before we
 * respond. Duplicates have no effect.
 */
export function inboundRoutes(app: App, context: Context, handler: InboundHandler): void {
  const { db, vault, log, config, keyring, limits, clock } = context
  app.addHook('preParsing', async (request) => {
    if (request.is404) return
    await requireFewRejections(request)
    // Check the channel and that a signature is present before buffering a large body.
    if (request.method === 'POST') {
      const { credentials } = await accountOf(request, ...channelNames)
      if (isGupshupRequest(request)) {
        const { channel_id, code = '' } = request.params as HookParams
        if (!isGupshupCallback(credentials.password, channel_id, code)) throw invalidSignatureProblem()
      } else if (isExotelRequest(request)) {
        const { message_id = '', code = '' } = request.params as Partial<HookParams>
        if (!isStatusCallback(credentials.api_token, message_id, code)) throw invalidSignatureProblem()
      } else if (!request.headers[isTwilioRequest(request) ? 'x-twilio-signature' : 'x-hub-signature-256'])
        throw invalidSignatureProblem()
      const { message_id } = request.params as Partial<HookParams>
      if (message_id !== undefined && !/^[\w-]{1,64}$/.test(message_id))
        throw problem('NOT_FOUND', 'Message not found.')
    }
    // The caller is unknown until the signature is verified, so the time to receive the body is short.
    request.rawBody = await readRawBody(
      request.raw,
      isWhatsAppRequest(request) ? MAX_JSON_BYTES : MAX_FORM_BYTES,
      bodyTimeoutMs.small,
    )
  })
  app.addHook('onError', async ({ ip }, _reply, error) => {
    if (error instanceof Problem && error.code !== 'RATE_LIMITED')
      await limits.limiter.charge(callerAddress(ip), [REJECTED_RULE], clock.now())
  })

  app.get('/whatsapp/:channel_id', async (request, reply) => {
    const account = await accountOf(request, 'whatsapp')
    const query = request.query as Record<string, unknown>
    const challenge = query['hub.challenge']
    const isVerified =
      query['hub.mode'] === 'subscribe' && isSameSecret(query['hub.verify_token'], account.credentials.verify_token)
    if (!isVerified || typeof challenge !== 'string' || !/^[\w.-]{1,200}$/.test(challenge))
      throw invalidSignatureProblem()
    await recordWebhookCall(db.queries, clock, account)
    return reply.type('text/plain').send(challenge)
  })

  app.post('/whatsapp/:channel_id', async (request) => {
    const account = await accountOf(request, 'whatsapp')
    const { org_id } = account
    const settings = account.credentials as {
      app_secret: string
      phone_number_id: string
      business_account_id?: string
    }
    if (!hasValidSignature(request.rawBody, request.headers['x-hub-signature-256'], settings.app_secret))
      throw invalidSignatureProblem()
    await recordWebhookCall(db.queries, clock, account)
    let anyFailed = false
    for (const item of readWebhook(parseJson(request.rawBody, { isTrusted: true }), settings)) {
      // Handle the remaining items even if one fails; the provider then retries the whole request.
      try {
        await db.transaction((tx) => handleItem(tx, org_id, item))
      } catch (error) {
        anyFailed = true
        log.error(
          { request_id: request.id, org: org_id, channel: 'whatsapp', err: error },
          'handling a webhook item failed, waiting for the provider to retry',
        )
      }
    }
    if (anyFailed) throw new Error('handling some webhook items failed')
    return { success: true }
  })

  async function handleItem(tx: Tx, orgId: string, item: WebhookItem): Promise<void> {
    if ('reply' in item) return handler.reply(tx, orgId, item.reply)
    if ('status' in item) return handler.status(tx, orgId, item.status)
    if ('userChange' in item) return handler.userChange(tx, orgId, item.userChange)
    const scope = { orgId, mode: 'live' as const }
    if ('limit' in item) return saveMessagingLimit(tx, clock, scope, item.limit)
    await recordReports(tx, clock, scope, [item.template])
  }

  app.post('/twilio/:channel_id/sms', async (request, reply) => {
    const { account, form } = await readSignedForm(request, 'sms')
    await recordWebhookCall(db.queries, clock, account)
    const sms = readSms(form)
    if (sms) await db.transaction((tx) => handler.reply(tx, account.org_id, sms))
    return sendTwiml(reply, emptyTwiml)
  })

  app.post('/twilio/:channel_id/status/:message_id', async (request, reply) => {
    const { account, form } = await readSignedForm(request, 'sms', 'voice')
    const { message_id } = request.params as HookParams
    const report = account.channel === 'sms' ? readSmsStatus(form, message_id) : readCallStatus(form, message_id)
    if (report) await db.transaction((tx) => handler.status(tx, account.org_id, report))
    return sendTwiml(reply, emptyTwiml)
  })

  app.post('/exotel/:channel_id/status/:message_id/:code', async (request) => {
    const { org_id, channel } = await accountOf(request, 'sms', 'voice')
    const { message_id } = request.params as HookParams
    const report =
      channel === 'sms'
        ? readExotelStatus(readForm(request.rawBody), message_id)
        : readExotelCallStatus(parseJsonOrUndefined(request.rawBody.toString()), message_id)
    if (report) await db.transaction((tx) => handler.status(tx, org_id, report))
    return { success: true }
  })

  app.get('/exotel/:channel_id/gather/:code', async (request) => {
    const { account, query, languages } = await readFlowRequest(request)
    const messageId = readMessageId(query)
    const turn =
      messageId === undefined
        ? undefined
        : await db.transaction((tx) => handler.keypadQuestion(tx, account.org_id, messageId, languages))
    return gatherParameters(turn, languages)
  })

  app.get('/exotel/:channel_id/passthru/:code', async (request, reply) => {
    const { account, query, languages } = await readFlowRequest(request)
    const messageId = readMessageId(query)
    const answer = readKeys(query)
    const continues =
      messageId !== undefined &&
      answer !== undefined &&
      (await db.transaction((tx) => handler.keypadAnswer(tx, account.org_id, messageId, languages, answer)))
    // The status decides which output of the applet the call takes.
    return reply.code(continues ? 200 : 302).send()
  })

  async function readFlowRequest(request: FastifyRequest) {
    const account = await accountOf(request, 'voice')
    const { channel_id, code } = request.params as HookParams
    if (!isFlowRequest(account.credentials.api_token, channel_id, code)) throw invalidSignatureProblem()
    await recordWebhookCall(db.queries, clock, account)
    await keyring.refreshIfStale() // a call ends if the organisation is paused
    const query = request.query as Record<string, unknown>
    return { account, query, languages: spokenLanguages(account.credentials) }
  }

  app.get('/gupshup/:channel_id/status/:code', async (request) => {
    const account = await accountOf(request, 'sms')
    const { channel_id, code } = request.params as HookParams
    if (!isGupshupCallback(account.credentials.password, channel_id, code)) throw invalidSignatureProblem()
    await handleReports(account, readGupshupQuery(request.query as Record<string, unknown>))
    return { success: true }
  })

  app.post('/gupshup/:channel_id/status/:code', async (request) => {
    const account = await accountOf(request, 'sms')
    await handleReports(account, readGupshupReports(readJsonOrField(request.rawBody, 'response')))
    return { success: true }
  })

  async function handleReports(account: ChannelAccount, reports: InboundStatus[]): Promise<void> {
    await recordWebhookCall(db.queries, clock, account)
    for (const report of reports) await db.transaction((tx) => handler.status(tx, account.org_id, report))
  }

  app.post('/twilio/:channel_id/voice/:message_id', async (request, reply) => {
    const { account } = await readSignedForm(request, 'voice')
    return sendTurn(request, reply, account, undefined, 0)
  })

  app.post('/twilio/:channel_id/voice/:message_id/:step/:turn', async (request, reply) => {
    const { account, form } = await readSignedForm(request, 'voice')
    const { step, turn } = request.params as { step: string; turn: string }
    if (!/^\d{1,6}$/.test(step) || !/^\d{1,6}$/.test(turn)) return sendTwiml(reply, hangUpTwiml)
    return sendTurn(request, reply, account, readCallAnswer(form, Number(step), Number(turn)), Number(turn))
  })

  async function sendTurn(
    request: FastifyRequest,
    reply: FastifyReply,
    account: ChannelAccount,
    answer: ReturnType<typeof readCallAnswer>,
    turn: number,
  ) {
    const { message_id } = request.params as HookParams
    await keyring.refreshIfStale() // a call ends if the organisation is paused
    const nextTurn = await db.transaction((tx) => handler.turn(tx, account.org_id, message_id, answer))
    if (!nextTurn) return sendTwiml(reply, hangUpTwiml)
    const step = nextTurn.prompts.at(-1)?.step ?? 0
    const path = `voice/${message_id}/${step}/${turn + 1}`
    return sendTwiml(reply, turnTwiml(nextTurn, twilioCallbackUrl(config.publicUrl!, account.channel_id, path)))
  }

  async function readSignedForm(
    request: FastifyRequest,
    ...channels: ChannelName[]
  ): Promise<{ account: ChannelAccount; form: URLSearchParams }> {
    const account = await accountOf(request, ...channels)
    const form = readForm(request.rawBody)
    // The URL that the provider was given, independent of proxies and of the `Host` header.
    const path = request.raw.url!.slice(request.raw.url!.indexOf(`${HOOKS_BASE}/`))
    const url = (config.publicUrl ?? '').replace(/\/+$/, '') + path
    const { auth_token } = account.credentials
    if (typeof auth_token !== 'string' || !URL.canParse(url)) throw invalidSignatureProblem()
    if (!isSignedByTwilio(auth_token, url, form, request.headers['x-twilio-signature'])) throw invalidSignatureProblem()
    return { account, form }
  }

  /** Limits callbacks with an unknown channel or a wrong signature per IP address, because each of them costs queries. */
  async function requireFewRejections({ ip }: FastifyRequest) {
    const { rejectedBy, retryAfter } = await limits.limiter.peek(callerAddress(ip), [REJECTED_RULE], clock.now())
    if (rejectedBy !== undefined)
      throw problem(
        'RATE_LIMITED',
        `Too many rejected callbacks from this IP address. Try again in ${formatSeconds(retryAfter)}.`,
        { retryAfter },
      )
  }

  async function accountOf(request: FastifyRequest, ...channels: ChannelName[]): Promise<ChannelAccount> {
    const { channel_id } = request.params as HookParams
    const account = /^CH_[0-9A-Z]{26}$/.test(channel_id) ? await findAccount(db.queries, vault, channel_id) : undefined
    if (!account || !channels.includes(account.channel)) throw problem('NOT_FOUND', 'Channel not found.')
    return account
  }
}

/** Parses a form. Its fields are counted first, because parsing and sorting tens of thousands of them is slow. */
export function readForm(rawBody: Buffer): URLSearchParams {
  let fields = 1
  for (const byte of rawBody)
    if (byte === AMPERSAND && ++fields > MAX_FORM_FIELDS)
      throw problem('VALIDATION_FAILED', `The form has more than ${MAX_FORM_FIELDS} fields.`)
  return new URLSearchParams(rawBody.toString())
}

const AMPERSAND = 0x26

/** Returns the JSON array that is the body of a request, or a field of its form. */
export function readJsonOrField(rawBody: Buffer, field: string): string {
  const body = rawBody.toString()
  return body.trimStart().startsWith('[') ? body : (readForm(rawBody).get(field) ?? '')
}

// The route decides, not the URL of the request, which can contain encoded characters.
function isExotelRequest({ routeOptions }: FastifyRequest) {
  return routeOptions.url!.includes('/exotel/')
}

function isGupshupRequest({ routeOptions }: FastifyRequest) {
  return routeOptions.url!.includes('/gupshup/')
}

function isWhatsAppRequest({ routeOptions }: FastifyRequest) {
  return routeOptions.url!.includes('/whatsapp/')
}

function isTwilioRequest({ routeOptions }: FastifyRequest) {
  return routeOptions.url!.includes('/twilio/')
}

function sendTwiml(reply: FastifyReply, text: string) {
  return reply.type('text/xml; charset=utf-8').send(text)
}

function invalidSignatureProblem() {
  return problem('ACCESS_DENIED', 'The webhook signature or verify token is missing or invalid.')
}

function isSameSecret(actual: unknown, expected: unknown): boolean {
  return typeof actual === 'string' && typeof expected === 'string' && secretsEqual(actual, expected)
}
