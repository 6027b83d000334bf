import { timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { readRawBody } from '../platform/http/body.ts'
import { parseJson } from '../platform/http/json.ts'
import type { App } from '../platform/http/server.ts'
import { type ChannelName, channelNames } from './channel.ts'
import { type Account, findAccount } from './credentials.ts'
import type { Receiver } from './inbound.ts'
import { readSms, readSmsStatus } from './twilio/sms.ts'
import { isSignedByTwilio, twilioHook } from './twilio/twilio.ts'
import { hangUp, nothing, turnTwiml } from './twilio/twiml.ts'
import { readCallAnswer, readCallStatus } from './twilio/voice.ts'
import { isSigned, readWebhook } from './whatsapp/webhook.ts'

export const HOOKS_BASE = '/hooks'

/** Bytes: WhatsApp puts many reports into one call, Twilio sends one form. */
const MOST_JSON = 3 * 1024 * 1024
const MOST_FORM = 64 * 1024

interface Params {
  channel_id: string
  message_id: string
}

/**
 * What providers call. Everything is proven over the raw body before it is looked at, and written down before it is answered; the
 * same call again changes nothing.
 */
export function inboundRoutes(app: App, context: Context, receiver: Receiver): void {
  const { db, vault, log, config } = context
  app.addHook('preParsing', async (request) => {
    if (request.is404) return
    // Nobody's megabytes are held who does not name a channel and claim to have signed.
    if (request.method === 'POST') {
      await accountOf(request, ...channelNames)
      if (!request.headers[isTwilio(request) ? 'x-twilio-signature' : 'x-hub-signature-256']) throw forged()
      const { message_id } = request.params as Partial<Params>
      if (message_id !== undefined && !/^[\w-]{1,64}$/.test(message_id))
        throw problem('NOT_FOUND', 'There is no such message.')
    }
    request.rawBody = await readRawBody(request.raw, isTwilio(request) ? MOST_FORM : MOST_JSON)
  })

  app.get('/whatsapp/:channel_id', async (request, reply) => {
    const { credentials } = await accountOf(request, 'whatsapp')
    const query = request.query as Record<string, unknown>
    const challenge = query['hub.challenge']
    const proven = query['hub.mode'] === 'subscribe' && same(query['hub.verify_token'], credentials.verify_token)
    if (!proven || typeof challenge !== 'string' || !/^[\w.-]{1,200}$/.test(challenge)) throw forged()
    return reply.type('text/plain').send(challenge)
  })

  app.post('/whatsapp/:channel_id', async (request) => {
    const { org_id, credentials } = await accountOf(request, 'whatsapp')
    const { app_secret, phone_number_id } = credentials as { app_secret: string; phone_number_id: string }
    if (!isSigned(request.rawBody, request.headers['x-hub-signature-256'], app_secret)) throw forged()
    let failed = false
    for (const one of readWebhook(parseJson(request.rawBody), phone_number_id)) {
      // One after the other: what follows one that cannot be handled is handled all the same, and the whole comes again.
      try {
        await db.transaction((tx) =>
          'reply' in one ? receiver.reply(tx, org_id, one.reply) : receiver.status(tx, org_id, one.status),
        )
      } catch (error) {
        failed = true
        log.error({ request_id: request.id, err: error }, 'what a provider reported could not be handled')
      }
    }
    if (failed) throw new Error('not everything in the webhook could be handled')
    return { success: true }
  })

  app.post('/twilio/:channel_id/sms', async (request, reply) => {
    const { account, form } = await twilioCall(request, 'sms')
    const said = readSms(form)
    if (said) await db.transaction((tx) => receiver.reply(tx, account.org_id, said))
    return twiml(reply, nothing)
  })

  app.post('/twilio/:channel_id/status/:message_id', async (request, reply) => {
    const { account, form } = await twilioCall(request, 'sms', 'voice')
    const { message_id } = request.params as Params
    const report = account.channel === 'sms' ? readSmsStatus(form, message_id) : readCallStatus(form, message_id)
    if (report) await db.transaction((tx) => receiver.status(tx, account.org_id, report))
    return twiml(reply, nothing)
  })

  app.post('/twilio/:channel_id/voice/:message_id', async (request, reply) => {
    const { account } = await twilioCall(request, 'voice')
    return speak(request, reply, account, undefined, 0)
  })

  app.post('/twilio/:channel_id/voice/:message_id/:step/:turn', async (request, reply) => {
    const { account, form } = await twilioCall(request, 'voice')
    const { step, turn } = request.params as { step: string; turn: string }
    if (!/^\d{1,6}$/.test(step) || !/^\d{1,6}$/.test(turn)) return twiml(reply, hangUp)
    return speak(request, reply, account, readCallAnswer(form, Number(step), Number(turn)), Number(turn))
  })

  async function speak(
    request: FastifyRequest,
    reply: FastifyReply,
    account: Account,
    answer: ReturnType<typeof readCallAnswer>,
    turn: number,
  ) {
    const { message_id } = request.params as Params
    const next = await db.transaction((tx) => receiver.turn(tx, account.org_id, message_id, answer))
    if (!next) return twiml(reply, hangUp)
    const step = next.prompts.at(-1)?.step ?? 0
    const path = `voice/${message_id}/${step}/${turn + 1}`
    return twiml(reply, turnTwiml(next, twilioHook(config.publicUrl!, account.channel_id, path)))
  }

  async function twilioCall(
    request: FastifyRequest,
    ...channels: ChannelName[]
  ): Promise<{ account: Account; form: URLSearchParams }> {
    const account = await accountOf(request, ...channels)
    const form = new URLSearchParams(request.rawBody.toString())
    // The address as it was given to the provider, whatever stands in between and whatever `Host` says.
    const path = request.raw.url!.slice(request.raw.url!.indexOf(`${HOOKS_BASE}/`))
    const url = (config.publicUrl ?? '').replace(/\/+$/, '') + path
    const { auth_token } = account.credentials as { auth_token: string }
    if (!URL.canParse(url) || !isSignedByTwilio(auth_token, url, form, request.headers['x-twilio-signature']))
      throw forged()
    return { account, form }
  }

  async function accountOf(request: FastifyRequest, ...channels: ChannelName[]): Promise<Account> {
    const { channel_id } = request.params as Params
    const account = /^CH_[0-9A-Z]{26}$/.test(channel_id) ? await findAccount(db.queries, vault, channel_id) : undefined
    if (!account || !channels.includes(account.channel)) throw problem('NOT_FOUND', 'There is no such channel.')
    return account
  }
}

function isTwilio({ raw }: FastifyRequest) {
  return raw.url!.includes('/twilio/')
}

function twiml(reply: FastifyReply, text: string) {
  return reply.type('text/xml; charset=utf-8').send(text)
}

function forged() {
  return problem('ACCESS_DENIED', 'The signature does not match.')
}

function same(given: unknown, expected: unknown): boolean {
  if (typeof given !== 'string' || typeof expected !== 'string') return false
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
