import type { Context } from '../context.ts'
import { registerChannel } from './channel.ts'
import { openEmail } from './email/email.ts'
import { closeProviderConnections } from './provider.ts'
import { openSms } from './twilio/sms.ts'
import { openVoice } from './twilio/voice.ts'
import { whatsapp } from './whatsapp/whatsapp.ts'

/** Registers the adapters of all channels. */
export function openChannels(context: Pick<Context, 'config' | 'smtp'>): { stop(): Promise<void> } {
  const email = openEmail(context)
  for (const channel of [whatsapp, openSms(context), openVoice(context), email]) registerChannel(channel)
  return {
    async stop() {
      email.close()
      await closeProviderConnections()
    },
  }
}
