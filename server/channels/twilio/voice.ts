import type { Context } from '../../context.ts'
import { callReport } from '../call-report.ts'
import { type ChannelAdapter, SendError } from '../channel.ts'
import { requireAllowedCountry } from '../country-refusal.ts'
import type { CallAnswer, InboundStatus } from '../inbound.ts'
import { toStorableText } from '../message-text.ts'
import type { VoiceSettings } from '../settings.ts'
import { createResource, readSid, twilioCallbackUrl } from './twilio.ts'
import { hasVoice, TWILIO_LANGUAGES } from './twiml.ts'

const DEFAULT_RING_SECONDS = 30

/** Calls through Twilio, which requests each turn of the conversation by callback. */
export function openTwilioVoice({ config }: Pick<Context, 'config'>): Pick<ChannelAdapter, 'send'> {
  return {
    async send(message, credentials, signal) {
      const settings = credentials as VoiceSettings | undefined
      if (!settings?.account_sid) throw new SendError('rejected', 'voice is not configured for the organisation')
      if (!config.publicUrl) throw new SendError('rejected', 'PUBLIC_URL is not set, so Twilio cannot call back')
      if (!hasVoice(message.language))
        throw new SendError('rejected', `no voice available for language ${message.language}`)
      const { channel_id, ring_seconds = DEFAULT_RING_SECONDS, from } = settings
      requireAllowedCountry('voice', settings, message.to)
      const callbackUrl = (path: string) =>
        twilioCallbackUrl(config.publicUrl!, channel_id, `${path}/${message.message_id}`)
      return createResource(
        settings as VoiceSettings & { base_url?: string },
        'Calls',
        {
          To: message.to,
          From: from,
          Url: callbackUrl('voice'),
          Method: 'POST',
          StatusCallback: callbackUrl('status'),
          StatusCallbackMethod: 'POST',
          StatusCallbackEvent: 'completed',
          Timeout: String(ring_seconds),
        },
        signal,
      )
    },
  }
}

/** Reads the outcome of a finished call; undefined for earlier statuses. */
export function readCallStatus(form: URLSearchParams, messageId: string): InboundStatus | undefined {
  const providerId = readSid(form, 'CallSid')
  if (!providerId) return undefined
  return callReport({ providerId, messageId }, form.get('CallStatus') ?? '', form.get('CallDuration'))
}

/** Reads pressed keys or recognised speech; the step and turn come from the callback URL. */
export function readCallAnswer(form: URLSearchParams, step: number, turn: number): CallAnswer | undefined {
  const digits = /^\d{1,4}/.exec(form.get('Digits') ?? '')?.[0]
  const speech = toStorableText(form.get('SpeechResult') ?? '')
  const callSid = readSid(form, 'CallSid')
  if (!callSid) return undefined
  return {
    providerId: `${callSid}/${step}/${turn}`,
    step,
    languages: TWILIO_LANGUAGES,
    ...(digits ? { digits } : {}),
    ...(speech ? { speech } : {}),
  }
}
