import type { ChannelName } from './channel.ts'
import { gupshupCallbackUrl } from './gupshup/sms.ts'

/** Placeholder for the public URL of the server if PUBLIC_URL is not set. */
export const PLACEHOLDER_URL = 'https://your-public-address'

/**
 * Returns the webhook URLs that must be entered at the provider. All other URLs are sent to the provider with each message. The URL for
 * Gupshup contains a code in place of a signature, so it is a secret.
 */
export function webhookUrls(
  channel: ChannelName,
  settings: object,
  channelId: string,
  publicUrl: string | undefined,
): string[] {
  const hooksUrl = `${(publicUrl ?? PLACEHOLDER_URL).replace(/\/+$/, '')}/hooks`
  if (channel === 'whatsapp') return [`${hooksUrl}/whatsapp/${channelId}`]
  if (channel !== 'sms') return []
  const { provider, password = '' } = settings as { provider?: string; password?: string }
  if (provider === 'gupshup') return [gupshupCallbackUrl(hooksUrl, password, channelId)]
  return provider === undefined ? [`${hooksUrl}/twilio/${channelId}/sms`] : []
}
