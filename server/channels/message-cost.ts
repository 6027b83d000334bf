import { type ChannelName, SendError } from './channel.ts'
import { EXOTEL_API_URL } from './exotel/exotel.ts'
import { getFrom } from './provider.ts'
import { type ProviderCost, readCost } from './provider-cost.ts'
import { TWILIO_API_URL } from './twilio/twilio.ts'

interface Account {
  provider?: string
  account_sid?: string
  auth_token?: string
  api_key?: string
  api_token?: string
  base_url?: string
}

/**
 * Requests the cost of a message or a call. Returns `pending` if the provider does not know it yet or does not respond, and
 * `unsupported` for a provider without such a request.
 */
export async function fetchMessageCost(
  channel: ChannelName,
  credentials: unknown,
  providerId: string,
  signal: AbortSignal,
): Promise<ProviderCost | 'pending' | 'unsupported'> {
  const account = (credentials ?? {}) as Account
  const request = requestFor(channel, account, providerId)
  if (!request) return 'unsupported'
  try {
    const { status, body } = await getFrom(request.url, { authorization: request.authorization }, signal)
    return status === 200 ? (request.readCost(body) ?? 'pending') : 'pending'
  } catch (error) {
    if (error instanceof SendError) return 'pending'
    throw error
  }
}

function requestFor(channel: ChannelName, account: Account, providerId: string) {
  const { provider, account_sid, auth_token, api_key, api_token, base_url } = account
  const id = encodeURIComponent(providerId)
  if (provider === 'exotel') {
    const resource = channel === 'sms' ? 'SMS/Messages' : 'Calls'
    return {
      url: `${withoutSlash(base_url ?? EXOTEL_API_URL)}/v1/Accounts/${account_sid}/${resource}/${id}.json`,
      authorization: basicAuthorization(api_key!, api_token!),
      readCost: readExotelCost,
    }
  }
  if ((channel !== 'sms' && channel !== 'voice') || provider !== undefined || !auth_token) return undefined
  const resource = channel === 'sms' ? 'Messages' : 'Calls'
  return {
    url: `${withoutSlash(base_url ?? TWILIO_API_URL)}/2010-04-01/Accounts/${account_sid}/${resource}/${id}.json`,
    authorization: basicAuthorization(account_sid!, auth_token),
    readCost: readTwilioCost,
  }
}

/** Reads the price of a Twilio resource, which is negative, and null until it is known. */
function readTwilioCost(body: unknown): ProviderCost | undefined {
  const { price, price_unit } = (body ?? {}) as { price?: unknown; price_unit?: unknown }
  return readCost(price, price_unit)
}

/** Exotel bills in rupees. */
function readExotelCost(body: unknown): ProviderCost | undefined {
  const { SMSMessage: message, Call: call } = (body ?? {}) as Record<string, { Price?: unknown } | undefined>
  return readCost((message ?? call)?.Price, 'INR')
}

function basicAuthorization(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}
