import type { Context } from '../context.ts'
import { type ChannelAdapters, channelNames } from './channel.ts'
import { openEmail } from './email/email.ts'
import { loadMessageErrors } from './failure-reasons.ts'
import { closeProviderConnections } from './provider.ts'
import { openSms } from './sms.ts'
import { openVoice } from './voice.ts'
import { whatsapp } from './whatsapp/whatsapp.ts'

/** Opens the adapters of all channels, and reads the reasons for failures. */
export function openChannels(context: Pick<Context, 'config' | 'smtp'>): {
  channels: ChannelAdapters
  close(): Promise<void>
} {
  loadMessageErrors()
  const email = openEmail(context)
  const channels = { whatsapp, voice: openVoice(context), sms: openSms(context), email }
  requireAllChannels(channels)
  return {
    channels,
    async close() {
      email.close()
      await closeProviderConnections()
    },
  }
}

/** Throws at startup, because a LIVE message to a channel without an adapter would fail. */
export function requireAllChannels(channels: ChannelAdapters): void {
  for (const name of channelNames)
    if (channels[name]?.name !== name) throw new Error(`channel ${name} has no adapter; add it to openChannels()`)
}
