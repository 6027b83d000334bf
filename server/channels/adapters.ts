import type { Context } from '../context.ts'
import { registerChannel } from './channel.ts'
import { openEmail } from './email/email.ts'
import { closeProviderConnections } from './provider.ts'
import { openSms } from './twilio/sms.ts'
import { openVoice } from './twilio/voice.ts'
import { whatsapp } from './whatsapp/whatsapp.ts'

/** Opens every channel to the outside. */
export function openChannels(context: Pick<Context, 'config' | 'postOffice'>): { stop(): Promise<void> } {
  const email = openEmail(context)
  for (const channel of [whatsapp, openSms(context), openVoice(context), email]) registerChannel(channel)
  return {
    async stop() {
      email.close()
      await closeProviderConnections()
    },
  }
}
