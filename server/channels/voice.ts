import type { Context } from '../context.ts'
import type { ChannelAdapter } from './channel.ts'
import { openExotelVoice } from './exotel/voice.ts'
import { openTwilioVoice } from './twilio/voice.ts'

/** Calls through the provider of the organisation. */
export function openVoice(context: Pick<Context, 'config'>): ChannelAdapter {
  const exotel = openExotelVoice(context)
  const twilio = openTwilioVoice(context)
  return {
    name: 'voice',
    send(message, credentials, signal) {
      const { provider } = (credentials ?? {}) as { provider?: string }
      return (provider === 'exotel' ? exotel : twilio).send(message, credentials, signal)
    },
  }
}
