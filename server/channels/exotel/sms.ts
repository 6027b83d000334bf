import type { Context } from '../../context.ts'
import type { ChannelAdapter } from '../channel.ts'
import { requireAllowedCountry } from '../country-refusal.ts'
import type { InboundStatus } from '../inbound.ts'
import { isAsciiText, toStorableText } from '../message-text.ts'
import { readCost } from '../provider-cost.ts'
import type { ExotelSettings } from '../settings.ts'
import { renderSms } from '../templates/render.ts'
import { postToExotel, statusCallbackUrl } from './exotel.ts'

/** Exotel's types of SMS by the category of the message. */
const smsTypes: Record<string, string> = {
  service_explicit: 'transactional_opt_in',
  service_implicit: 'transactional',
  promotional: 'promotional',
}

/** Text messages to India through Exotel, with the IDs of the DLT registration. */
export function openExotelSms({ config }: Pick<Context, 'config'>): Pick<ChannelAdapter, 'send'> {
  return {
    async send(message, credentials, signal) {
      const settings = credentials as ExotelSettings
      requireAllowedCountry('sms', settings, message.to)
      const { text, templateId, header, category } = renderSms(message, settings)
      const body = await postToExotel(
        settings as ExotelSettings & { base_url?: string },
        'Sms/send.json',
        {
          From: header,
          To: message.to,
          Body: text,
          EncodingType: isAsciiText(text) ? 'plain' : 'unicode',
          DltEntityId: settings.dlt_entity_id,
          DltTemplateId: templateId,
          SmsType: smsTypes[category] ?? smsTypes.service_explicit!,
          CustomField: message.message_id,
          ...(config.publicUrl
            ? { StatusCallback: statusCallbackUrl(config.publicUrl, settings, message.message_id) }
            : {}),
        },
        signal,
      )
      const { SMSMessage: sms } = (body ?? {}) as { SMSMessage?: { Sid?: unknown } }
      return { providerId: typeof sms?.Sid === 'string' ? sms.Sid : undefined, templateId }
    },
  }
}

const statuses: Record<string, InboundStatus['status']> = {
  sent: 'sent',
  delivered: 'delivered',
  failed: 'failed',
  'failed-dnd': 'failed',
  expired: 'failed',
  undelivered: 'failed',
}

/** Reads the report about a message; undefined for intermediate statuses. */
export function readExotelStatus(form: URLSearchParams, messageId: string): InboundStatus | undefined {
  const providerId = /^[\w-]{1,64}$/.exec(form.get('SmsSid') ?? '')?.[0]
  const statusName = (form.get('Status') ?? '').toLowerCase()
  const status = Object.hasOwn(statuses, statusName) ? statuses[statusName] : undefined
  if (!providerId || !status) return undefined
  const units = /^\d{1,2}$/.exec(form.get('SmsUnits') ?? '')?.[0]
  const cost = readCost(form.get('Price'), 'INR')
  const error = [form.get('DetailedStatusCode'), form.get('DetailedStatus')].filter(Boolean).join(', ')
  return {
    channel: 'sms',
    providerId,
    messageId,
    status,
    ...(units ? { units: Number(units) } : {}),
    ...(cost ? { cost } : {}),
    ...(status === 'failed' ? { error: toStorableText(error || statusName) } : {}),
  }
}
