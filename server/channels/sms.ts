import type { Context } from '../context.ts'
import type { ChannelAdapter } from './channel.ts'
import { openExotelSms } from './exotel/sms.ts'
import { gupshupSms } from './gupshup/sms.ts'
import { openTwilioSms } from './twilio/sms.ts'

/** Text messages through the provider of the organisation. */
export function openSms(context: Pick<Context, 'config'>): ChannelAdapter {
  const exotel = openExotelSms(context)
  const twilio = openTwilioSms(context)
  return {
    name: 'sms',
    send(message, credentials, signal) {
      const { provider } = (credentials ?? {}) as { provider?: string }
      const adapter = provider === 'exotel' ? exotel : provider === 'gupshup' ? gupshupSms : twilio
      return adapter.send(message, credentials, signal)
    },
  }
}
