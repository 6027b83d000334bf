import { type OutgoingMessage, SendError } from './channel.ts'
import { findCountryRefusal } from './country-refusal.ts'
import { smsTextFor } from './invitation.ts'
import type { ExotelSettings, GupshupSettings } from './settings.ts'
import { renderSms, type TemplatedSms } from './templates/render.ts'

/** UTF-16 code units per message, over all its segments. */
export const MAX_SMS_LENGTH = 1600

/** Returns the text of an SMS as the provider of the organisation sends it; undefined if it is refused before it is sent. */
export function sentSmsText(message: OutgoingMessage, credentials: unknown): string | undefined {
  if (isIndianProvider(credentials)) return renderedSms(message, credentials)?.text
  return findCountryRefusal('sms', credentials, message.to) ? undefined : smsTextFor(message, MAX_SMS_LENGTH)
}

function isIndianProvider(credentials: unknown): credentials is ExotelSettings | GupshupSettings {
  const { provider } = (credentials ?? {}) as { provider?: string }
  return provider === 'exotel' || provider === 'gupshup'
}

function renderedSms(message: OutgoingMessage, settings: ExotelSettings | GupshupSettings): TemplatedSms | undefined {
  if (findCountryRefusal('sms', settings, message.to)) return undefined
  try {
    return renderSms(message, settings)
  } catch (error) {
    if (error instanceof SendError) return undefined
    throw error
  }
}
