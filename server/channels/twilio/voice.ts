import type { Context } from '../../context.ts'
import { type Channel, SendError } from '../channel.ts'
import type { CallAnswer, InboundStatus } from '../inbound.ts'
import { storable } from '../message-text.ts'
import type { VoiceSettings } from '../settings.ts'
import { createResource, sidIn, twilioHook } from './twilio.ts'
import { speaks } from './twiml.ts'

/** Seconds that the phone rings. */
const RINGS = 30

/** Calls by Twilio. The conversation itself is served when the provider asks what to say. */
export function openVoice({ config }: Pick<Context, 'config'>): Channel {
  return {
    name: 'voice',
    async send(message, credentials, signal) {
      const settings = credentials as VoiceSettings | undefined
      if (!settings?.account_sid) throw new SendError('refused', 'calls are not set up for the organisation')
      if (!config.publicUrl)
        throw new SendError('refused', 'PUBLIC_URL is not set: the provider could not ask what to say')
      if (!speaks(message.language)) throw new SendError('refused', `there is no voice for ${message.language}`)
      const { channel_id, ring_seconds = RINGS, from } = settings
      const hook = (path: string) => twilioHook(config.publicUrl!, channel_id, `${path}/${message.message_id}`)
      return createResource(
        settings as VoiceSettings & { base_url?: string },
        'Calls',
        {
          To: message.to,
          From: from,
          Url: hook('voice'),
          Method: 'POST',
          StatusCallback: hook('status'),
          StatusCallbackMethod: 'POST',
          StatusCallbackEvent: 'completed',
          Timeout: String(ring_seconds),
        },
        signal,
      )
    },
  }
}

type Ended = Pick<InboundStatus, 'status'> & { outcome: NonNullable<InboundStatus['call']>['outcome'] }

const ends: Record<string, Ended> = {
  completed: { status: 'delivered', outcome: 'answered' },
  busy: { status: 'unanswered', outcome: 'busy' },
  'no-answer': { status: 'unanswered', outcome: 'no_answer' },
  failed: { status: 'failed', outcome: 'failed' },
  canceled: { status: 'failed', outcome: 'failed' },
}

/** The end of a call; what comes before it is no news. */
export function readCallStatus(form: URLSearchParams, messageId: string): InboundStatus | undefined {
  const providerId = sidIn(form, 'CallSid')
  const name = form.get('CallStatus') ?? ''
  const end = Object.hasOwn(ends, name) ? ends[name] : undefined
  if (!providerId || !end) return undefined
  const seconds = end.outcome === 'answered' ? Math.min(Number(form.get('CallDuration')) || 0, 86_400) : 0
  return {
    channel: 'voice',
    providerId,
    messageId,
    status: end.status,
    call: { outcome: end.outcome, seconds },
    ...(end.outcome === 'answered' ? {} : { error: name }),
  }
}

/** What was pressed or said; the address tells which question it answers. */
export function readCallAnswer(form: URLSearchParams, step: number, turn: number): CallAnswer | undefined {
  const digits = /^\d{1,4}/.exec(form.get('Digits') ?? '')?.[0]
  const speech = storable(form.get('SpeechResult') ?? '')
  const call = sidIn(form, 'CallSid')
  if (!call) return undefined
  return {
    providerId: `${call}/${step}/${turn}`,
    step,
    ...(digits ? { digits } : {}),
    ...(speech ? { speech } : {}),
  }
}
