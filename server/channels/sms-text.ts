import { type OutgoingMessage, SendError } from './channel.ts'
import { smsTextFor } from './invitation.ts'
import { rulesFor } from './rules.ts'
import type { ExotelSettings, GupshupSettings } from './settings.ts'
import { renderSms } from './templates/render.ts'

/** UTF-16 code units per message, over all its segments. */
export const MAX_SMS_LENGTH = 1600

/** Returns the text of an SMS as the provider of the organisation sends it; undefined if it is refused before it is sent. */
export function sentSmsText(message: OutgoingMessage, credentials: unknown): string | undefined {
  const { provider } = (credentials ?? {}) as { provider?: string }
  if (provider !== 'exotel' && provider !== 'gupshup') return smsTextFor(message, MAX_SMS_LENGTH)
  if (rulesFor(message.to).country !== 'IN') return undefined
  try {
    return renderSms(message, credentials as ExotelSettings | GupshupSettings).text
  } catch (error) {
    if (error instanceof SendError) return undefined
    throw error
  }
}
