import type { ChannelName } from './channel.ts'
import { flowUrls } from './exotel/exotel.ts'
import { gupshupCallbackUrl } from './gupshup/sms.ts'

/** Placeholder for the public URL of the server if PUBLIC_URL is not set. */
export const PLACEHOLDER_URL = 'https://your-public-address'

/**
 * Returns the webhook URLs that must be entered at the provider. All other URLs are sent to the provider with each message. The URLs
 * for Gupshup and Exotel contain a code in place of a signature, so they are secrets.
 */
export function webhookUrls(
  channel: ChannelName,
  settings: object,
  channelId: string,
  publicUrl: string | undefined,
): string[] {
  const hooksUrl = `${(publicUrl ?? PLACEHOLDER_URL).replace(/\/+$/, '')}/hooks`
  if (channel === 'whatsapp') return [`${hooksUrl}/whatsapp/${channelId}`]
  const { provider, password = '', api_token = '' } = settings as Record<string, string | undefined>
  if (channel === 'voice' && provider === 'exotel') return flowUrls(hooksUrl, api_token, channelId)
  if (channel !== 'sms') return []
  if (provider === 'gupshup') return [gupshupCallbackUrl(hooksUrl, password, channelId)]
  return provider === undefined ? [`${hooksUrl}/twilio/${channelId}/sms`] : []
}
