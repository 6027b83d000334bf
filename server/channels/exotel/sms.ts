import { createHmac } from 'node:crypto'
import type { Context } from '../../context.ts'
import { secretsEqual } from '../../platform/secret-comparison.ts'
import { type ChannelAdapter, SendError, type SendErrorReason } from '../channel.ts'
import type { InboundStatus } from '../inbound.ts'
import { isAsciiText, toStorableText } from '../message-text.ts'
import { DEFAULT_PAUSE_SECONDS, type ProviderResponse, postTo } from '../provider.ts'
import { readCost } from '../provider-cost.ts'
import { rulesFor } from '../rules.ts'
import type { ExotelSettings } from '../settings.ts'
import { renderSms } from '../templates/render.ts'

export const EXOTEL_API_URL = 'https://api.exotel.com'

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
      const { country } = rulesFor(message.to)
      if (country !== 'IN')
        throw new SendError('rejected', 'Exotel sends SMS to Indian numbers only; use Twilio for other countries')
      const { text, templateId, header, category } = renderSms(message, settings)
      const { account_sid, api_key, api_token, dlt_entity_id, base_url = EXOTEL_API_URL } = settings
      const response = await postTo(
        `${base_url.replace(/\/+$/, '')}/v1/Accounts/${account_sid}/Sms/send.json`,
        {
          authorization: `Basic ${Buffer.from(`${api_key}:${api_token}`).toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
          accept: 'application/json',
        },
        new URLSearchParams({
          From: header,
          To: message.to,
          Body: text,
          EncodingType: isAsciiText(text) ? 'plain' : 'unicode',
          DltEntityId: dlt_entity_id,
          DltTemplateId: templateId,
          SmsType: smsTypes[category] ?? smsTypes.service_explicit!,
          CustomField: message.message_id,
          ...(config.publicUrl
            ? { StatusCallback: statusCallbackUrl(config.publicUrl, settings, message.message_id) }
            : {}),
        }).toString(),
        signal,
      )
      if (response.status < 200 || response.status >= 300) throw toSendError(response)
      const { SMSMessage: sms } = (response.body ?? {}) as { SMSMessage?: { Sid?: unknown } }
      return { providerId: typeof sms?.Sid === 'string' ? sms.Sid : undefined, templateId }
    },
  }
}

/** After an internal or gateway error, it is unknown whether the message was sent. */
function toSendError({ status, body, retryAfter }: ProviderResponse): SendError {
  const { RestException: error } = (body ?? {}) as { RestException?: { Message?: unknown; Code?: unknown } }
  const text = [`HTTP ${status}`, error?.Code, error?.Message].filter(Boolean).join(', ')
  const isBusy = status === 429 || status === 503
  const reason: SendErrorReason = isBusy ? 'busy' : status >= 500 ? 'unknown' : 'rejected'
  return new SendError(reason, text, isBusy ? (retryAfter ?? DEFAULT_PAUSE_SECONDS) : undefined)
}

/** Exotel does not sign its callbacks, so their URL contains a message authentication code. */
function statusCallbackUrl(publicUrl: string, settings: ExotelSettings, messageId: string): string {
  const code = callbackCode(settings.api_token, messageId)
  return `${publicUrl.replace(/\/+$/, '')}/hooks/exotel/${settings.channel_id}/status/${messageId}/${code}`
}

function callbackCode(apiToken: string, messageId: string): string {
  return createHmac('sha256', apiToken).update(`status of ${messageId}`).digest('base64url')
}

export function isExotelCallback(apiToken: unknown, messageId: string, code: string): boolean {
  return typeof apiToken === 'string' && secretsEqual(code, callbackCode(apiToken, messageId))
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
