import type { Context } from '../../context.ts'
import { type ChannelAdapter, type OutgoingMessage, SendError } from '../channel.ts'
import { requireAllowedCountry } from '../country-refusal.ts'
import type { InboundReply, InboundStatus } from '../inbound.ts'
import { smsTextFor } from '../invitation.ts'
import { plainText, toStorableText } from '../message-text.ts'
import { readCost } from '../provider-cost.ts'
import type { SmsSettings } from '../settings.ts'
import { MAX_SMS_LENGTH } from '../sms-text.ts'
import { createResource, OPTED_OUT_CODE, readSid, twilioCallbackUrl } from './twilio.ts'

/** Text messages through Twilio. */
export function openTwilioSms({ config }: Pick<Context, 'config'>): Pick<ChannelAdapter, 'send'> {
  return {
    async send(message, credentials, signal) {
      const settings = credentials as SmsSettings | undefined
      if (!settings?.account_sid) throw new SendError('rejected', 'SMS is not configured for the organisation')
      requireAllowedCountry('sms', settings, message.to)
      const { from, messaging_service_sid, channel_id } = settings
      return createResource(
        settings as SmsSettings & { base_url?: string },
        'Messages',
        {
          To: message.to,
          ...(messaging_service_sid ? { MessagingServiceSid: messaging_service_sid } : { From: from! }),
          Body: smsTextFor(message, MAX_SMS_LENGTH),
          ...(config.publicUrl
            ? { StatusCallback: twilioCallbackUrl(config.publicUrl, channel_id, `status/${message.message_id}`) }
            : {}),
        },
        signal,
      )
    },
  }
}

export function smsText(message: Pick<OutgoingMessage, 'prompts' | 'language' | 'link' | 'followUpNumber'>): string {
  return plainText(message, MAX_SMS_LENGTH)
}

export function readSms(form: URLSearchParams): InboundReply | undefined {
  const from = form.get('From')
  const providerId = readSid(form, 'MessageSid')
  if (!from || !providerId || !/^\+\d{7,15}$/.test(from)) return undefined
  // Twilio recognises more opt-out keywords than we do.
  const text = form.get('OptOutType') === 'STOP' ? 'STOP' : toStorableText(form.get('Body') ?? '')
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
  const providerId = readSid(form, 'MessageSid')
  const status = statuses[form.get('MessageStatus') ?? '']
  if (!providerId || !status) return undefined
  const code = /^\d{1,6}$/.exec(form.get('ErrorCode') ?? '')?.[0]
  const isOptOut = code === String(OPTED_OUT_CODE)
  const cost = readCost(form.get('Price'), form.get('PriceUnit'))
  return {
    channel: 'sms',
    providerId,
    messageId,
    status,
    stop: isOptOut,
    ...(cost ? { cost } : {}),
    ...(code ? { error: `error ${code}` } : {}),
  }
}
