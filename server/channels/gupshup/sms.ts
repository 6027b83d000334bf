import { createHmac } from 'node:crypto'
import { parseJsonOrUndefined } from '../../platform/json.ts'
import { secretsEqual } from '../../platform/secret-comparison.ts'
import { type ChannelAdapter, SendError, type SendErrorReason } from '../channel.ts'
import { requireAllowedCountry } from '../country-refusal.ts'
import type { InboundStatus } from '../inbound.ts'
import { isAsciiText, toStorableText } from '../message-text.ts'
import { DEFAULT_PAUSE_SECONDS, type ProviderResponse, postTo } from '../provider.ts'
import type { GupshupSettings } from '../settings.ts'
import { renderSms } from '../templates/render.ts'

const API_URL = 'https://enterprise.smsgupshup.com'
const MAX_REPORTS = 100

/** Text messages to India through the enterprise API of Gupshup, with the IDs of the DLT registration. */
export const gupshupSms: Pick<ChannelAdapter, 'send'> = {
  async send(message, credentials, signal) {
    const settings = credentials as GupshupSettings
    requireAllowedCountry('sms', settings, message.to)
    const { text, templateId, header } = renderSms(message, settings)
    const { user_id, password, dlt_entity_id, base_url = API_URL } = settings
    const response = await postTo(
      `${base_url.replace(/\/+$/, '')}/GatewayAPI/rest`,
      { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      new URLSearchParams({
        method: 'SendMessage',
        v: '1.1',
        auth_scheme: 'plain',
        format: 'json',
        userid: user_id,
        password,
        send_to: message.to.replace(/^\+/, ''),
        msg: text,
        msg_type: isAsciiText(text) ? 'Text' : 'Unicode_Text',
        mask: header,
        principalEntityId: dlt_entity_id,
        dltTemplateId: templateId,
      }).toString(),
      signal,
    )
    const result = readResult(response)
    if (result.status !== 'success') throw toSendError(response, result)
    return { providerId: result.id, templateId }
  },
}

interface GupshupResult {
  status: string | undefined
  id: string | undefined
  details: string | undefined
}

function readResult({ body }: ProviderResponse): GupshupResult {
  const { response } = (body ?? {}) as { response?: { id?: unknown; status?: unknown; details?: unknown } }
  const asText = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
  return { status: asText(response?.status), id: asText(response?.id), details: asText(response?.details) }
}

/** Error code for an invalid recipient number. */
const INVALID_NUMBER_CODE = '105'
/** Error code for an internal error, after which it is unknown whether the message was sent. */
const UNKNOWN_ERROR_CODE = '100'

/** Gupshup reports errors with the status 200; the ID is then the error code. */
function toSendError(
  { status, retryAfter }: ProviderResponse,
  { id, details, status: result }: GupshupResult,
): SendError {
  const text = [`HTTP ${status}`, id, details].filter(Boolean).join(', ')
  const isBusy = status === 429 || status === 503
  return new SendError(reasonFor(), text, isBusy ? (retryAfter ?? DEFAULT_PAUSE_SECONDS) : undefined)

  function reasonFor(): SendErrorReason {
    if (isBusy) return 'busy'
    if (result !== 'error') return status >= 200 && status < 500 && status !== 200 ? 'rejected' : 'unknown'
    if (id === INVALID_NUMBER_CODE) return 'unreachable'
    return id === UNKNOWN_ERROR_CODE ? 'unknown' : 'rejected'
  }
}

/** Returns the URL for delivery reports. Gupshup does not sign them, so the URL contains a message authentication code. */
export function gupshupCallbackUrl(hooksUrl: string, password: string, channelId: string): string {
  return `${hooksUrl}/gupshup/${channelId}/status/${callbackCode(password, channelId)}`
}

function callbackCode(password: string, channelId: string): string {
  return createHmac('sha256', password).update(`reports of ${channelId}`).digest('base64url')
}

export function isGupshupCallback(password: unknown, channelId: string, code: string): boolean {
  return typeof password === 'string' && secretsEqual(code, callbackCode(password, channelId))
}

const statuses: Record<string, InboundStatus['status']> = {
  success: 'delivered',
  delivered: 'delivered',
  sent: 'sent',
  submitted: 'sent',
  failure: 'failed',
  failed: 'failed',
}

/** Reads the report in the query of a GET request. */
export function readGupshupQuery(query: Record<string, unknown>): InboundStatus[] {
  return readReport(query.externalId, query.status, query.errCode, query.cause)
}

/** Reads the reports of a POST request, a JSON array. */
export function readGupshupReports(json: string): InboundStatus[] {
  const list = parseJsonOrUndefined(json)
  if (!Array.isArray(list)) return []
  return list.slice(0, MAX_REPORTS).flatMap((report) => {
    const { externalId, eventType, status, errCode, cause } = (report ?? {}) as Record<string, unknown>
    return readReport(externalId, eventType ?? status, errCode, cause)
  })
}

/** Returns the status of a message; nothing for unknown and intermediate statuses. */
function readReport(externalId: unknown, statusName: unknown, errCode: unknown, cause: unknown): InboundStatus[] {
  const providerId = typeof externalId === 'string' ? /^[\w-]{1,100}$/.exec(externalId)?.[0] : undefined
  const name = typeof statusName === 'string' ? statusName.toLowerCase() : ''
  const status = Object.hasOwn(statuses, name) ? statuses[name] : undefined
  if (providerId === undefined || status === undefined) return []
  const error = [errCode, cause].filter((value) => typeof value === 'string' || typeof value === 'number').join(', ')
  return [
    {
      channel: 'sms',
      providerId,
      status,
      ...(status === 'failed' ? { error: toStorableText(error || name) } : {}),
    },
  ]
}
