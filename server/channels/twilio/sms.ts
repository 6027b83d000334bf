import type { Context } from '../../context.ts'
import { type Channel, type Outgoing, SendError } from '../channel.ts'
import type { InboundReply, InboundStatus } from '../inbound.ts'
import { plainText, storable } from '../message-text.ts'
import type { SmsSettings } from '../settings.ts'
import { createResource, sidIn, TOLD_STOP, twilioHook } from './twilio.ts'

/** UTF-16 units of one message, however many parts it is sent in. */
const LONGEST = 1600

/** Text messages by Twilio. */
export function openSms({ config }: Pick<Context, 'config'>): Channel {
  return {
    name: 'sms',
    async send(message, credentials, signal) {
      const settings = credentials as SmsSettings | undefined
      if (!settings?.account_sid) throw new SendError('refused', 'text messages are not set up for the organisation')
      const { from, messaging_service_sid, channel_id } = settings
      return createResource(
        settings as SmsSettings & { base_url?: string },
        'Messages',
        {
          To: message.to,
          ...(messaging_service_sid ? { MessagingServiceSid: messaging_service_sid } : { From: from! }),
          Body: smsText(message),
          ...(config.publicUrl
            ? { StatusCallback: twilioHook(config.publicUrl, channel_id, `status/${message.message_id}`) }
            : {}),
        },
        signal,
      )
    },
  }
}

/** What the candidate reads. */
export function smsText(message: Pick<Outgoing, 'prompts' | 'language' | 'link'>): string {
  return plainText(message, LONGEST)
}

/** A text message that came in. */
export function readSms(form: URLSearchParams): InboundReply | undefined {
  const from = form.get('From')
  const providerId = sidIn(form, 'MessageSid')
  if (!from || !providerId || !/^\+\d{7,15}$/.test(from)) return undefined
  // The provider understands more ways to say it than we do.
  const text = form.get('OptOutType') === 'STOP' ? 'STOP' : storable(form.get('Body') ?? '')
  return { channel: 'sms', from, providerId, text }
}

const statuses: Record<string, InboundStatus['status']> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  undelivered: 'failed',
  failed: 'failed',
}

export function readSmsStatus(form: URLSearchParams, messageId: string): InboundStatus | undefined {
  const providerId = sidIn(form, 'MessageSid')
  const status = statuses[form.get('MessageStatus') ?? '']
  if (!providerId || !status) return undefined
  const code = /^\d{1,6}$/.exec(form.get('ErrorCode') ?? '')?.[0]
  const stop = code === String(TOLD_STOP)
  return { channel: 'sms', providerId, messageId, status, stop, ...(code ? { error: `error ${code}` } : {}) }
}
